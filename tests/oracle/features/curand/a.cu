#include <curand_kernel.h>
__device__ float draw(curandState *s);
__global__ void setup(curandState *s, unsigned long long seed)
{
    curand_init(seed, threadIdx.x, 0, s + threadIdx.x);
}
__global__ void gen(curandState *s, float *out)
{
    out[threadIdx.x] = draw(s + threadIdx.x);
}
