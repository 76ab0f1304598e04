#include <cstdint>
__device__ unsigned g; __device__ float gf; __device__ unsigned long long gl;
extern "C" __global__ void k230(unsigned*p,float*q,unsigned n,unsigned m,float f){unsigned a=threadIdx.x,b=blockIdx.x,s=a*n,t=b+m;q[a]=(float)__popc(n)+exp2f(f); s+=__popc(__ballot_sync(~0u,t>n)); atomicAdd(&g,2u); atomicAdd(p+0,2); if(s>n) atomicMin(&g,1u); p[a]=s+t+b; q[b]=f;}
