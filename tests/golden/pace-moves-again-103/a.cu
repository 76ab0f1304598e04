extern "C" __global__ void drawn(const float*__restrict__ in,const double*b,double*o,int n,int m,double s){
    __shared__ float sh[2][64];
    __shared__ double red[32];
    int t=threadIdx.x,g=blockIdx.x*blockDim.x+t;
    int lane=t&31,w=t>>5;
    double acc=(double)(0);
    double x=(double)(1);
    unsigned bits=0;
    if(g>=n)return;
    for(int q=16;q>0;q>>=1)acc+=__shfl_xor_sync(~0u,acc,q);
    __syncthreads();
    sh[1][t]=(float)(acc);
    __syncthreads();
    x=(double)(sh[0][t^1]);
    atomicAdd(&red[lane],x);
    o[g]=acc+x;
}
