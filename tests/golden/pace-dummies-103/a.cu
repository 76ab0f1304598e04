#include <cuda_pipeline.h>

extern "C" __global__ void drawn(const long long*__restrict__ in,const double*b,double*o,int n,int m,double s){
    __shared__ long long sh[2][64];
    __shared__ double red[32];
    int t=threadIdx.x,g=blockIdx.x*blockDim.x+t;
    int lane=t&31,w=t>>5;
    double acc=(double)(0);
    double x=(double)(1);
    unsigned bits=0;
    if(g>=n)return;
    {
        double2 v=*(const double2*)&b[g*2];
        acc+=v.x*v.y;
    }
    for(int i=0;i<4;i++){
        o[g+m*t]=(acc>x?1.0:2.0);
        __pipeline_memcpy_async(&sh[1][t],in+g+m*t,sizeof(long long));
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();
        acc+=(double)(sh[1][t^1]);
        acc+=(double)(in[(i*n+g)%m]);
    }
    if(__any_sync(~0u,acc>x)){
        acc=(double)(max(in[g+m],(long long)(acc)));
        x=atomicAdd(&red[lane],x);
    }
    __syncthreads();
    sh[1][t]=in[g];
    __syncthreads();
    x=(double)(sh[0][lane]);
    switch(m&7){
        case 0:acc+=x;
        break;
        case 1:acc-=s;
        break;
        case 2:x=(x>s?1.0:2.0);
        break;
        case 5:o[g]=acc;
        break;
        default:acc*=2.0;
    }
    acc=(double)(in[g+m]+(long long)(acc));
    o[g]=acc+x;
}
