__device__ int twice(int x){ return x*2; }
__global__ void k(int *p,int n){ p[n]=twice(p[0]); }
