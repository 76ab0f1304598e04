#include <cuda_pipeline.h>

extern "C" __global__ void drawn(const int*in,int*o,int n,float f){
    __shared__ int sh[256];
    int t=threadIdx.x;
    for(int i=0;;i++){
        f=f*f+1.f;
        f=f*f+1.f;
        __pipeline_memcpy_async(&sh[t+i],in,sizeof(int));
        __pipeline_commit();
        f=f*f+5.f;
        f=f*f+2.f;
        f=f*f+6.f;
        f=f*f+1.f;
        __syncthreads();
        ((int*)o)[t]=((int*)sh)[t^1];
        if(t==i)return;
        in+=t;
    }
}
