#include <curand_kernel.h>
__device__ float draw(curandState *s)
{
    return curand_normal(s) + curand_uniform(s);
}
__global__ void philox(double *out)
{
    curandStatePhilox4_32_10_t st;
    curand_init(7, threadIdx.x, 0, &st);
    out[threadIdx.x] = curand_normal_double(&st) + curand_poisson(&st, 4.0);
}
