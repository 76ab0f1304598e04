#include <cuda_fp16.h>

extern "C" __global__ void drawn(const __half*__restrict__ in,const double*b,double*o,int n,int m,double s){
    __shared__ __half sh[2][128];
    __shared__ double red[32];
    int t=threadIdx.x,g=blockIdx.x*blockDim.x+t;
    int lane=t&31,w=t>>5;
    double acc=(double)(0);
    double x=(double)(1);
    unsigned bits=0;
    if(g>=n)return;
    if(t<m){
        red[w]=acc;
        __syncthreads();
        if(w==0){
            acc=red[lane];
            for(int q=16;q;q>>=1)acc+=__shfl_down_sync(~0u,acc,q);
        }
    }
    __syncthreads();
    sh[1][t]=__float2half((float)(acc));
    __syncthreads();
    x=(double)(__half2float(sh[1][t^1]));
    acc=acc*x;
    if((g&3)==1){
        {
            double2 v=*(const double2*)&b[g*2];
            acc+=v.x*v.y;
        }
        acc=sqrt(acc)+x;
    }
    else{
        acc=fmax(acc,s);
    }
    acc=acc-x;
    o[g]=acc+x;
}
