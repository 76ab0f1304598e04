#include <cuda_pipeline.h>
extern "C" __global__ void k(const float*__restrict__ in,const float*b,float*o,int n,int m,float s){
 __shared__ float sh[2][128]; int t=threadIdx.x,g=blockIdx.x*blockDim.x+t; int lane=t&31; float acc=0,x=b[g+m];
 o[g+m*t]=sqrtf(x);acc=x;
 acc+=__shfl_xor_sync(0xffffffff,acc,lane&3);
 __pipeline_memcpy_async(&sh[0][t],in+g+m*t,sizeof(float)); __pipeline_commit(); __pipeline_wait_prior(0); __syncthreads();
 acc+=sh[0][t^8];o[g]=acc; }