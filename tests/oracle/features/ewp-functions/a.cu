__device__ __noinline__ double f(double x,double y){return x/y+y;}
__device__ __noinline__ int g(int x){return x*x+7;}
__global__ void k(double*p,int n){p[n]=f(p[0],p[1])+g(n);}
__global__ void k2(double*p,int n){p[n]=f(p[3],p[1])+1;}
