__global__ void k(double*p,double a,double b){ double x=p[0]; if (x<a && x>0) return; p[2]=b; }
