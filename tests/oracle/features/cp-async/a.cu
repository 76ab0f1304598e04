#include <cuda_pipeline.h>
extern __shared__ float4 dynbuf[];
__device__ float load_tile(const float4 *g);
__global__ void k(const float4 *g, float *out)
{
    __shared__ float4 s[64];
    __pipeline_memcpy_async(&s[threadIdx.x & 63], g + threadIdx.x, 16);
    __pipeline_memcpy_async(&dynbuf[threadIdx.x], g + threadIdx.x, 16);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[0] = s[1].x + dynbuf[2].y + load_tile(g);
}
