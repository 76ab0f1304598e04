#include <cuda_fp16.h>
__device__ float fslow(float x);
__device__ double dslow(double x);
__global__ void k(float *p, double *d)
{
    p[0] = fslow(p[1]) + powf(p[2], p[3]);
    d[0] = dslow(d[1]) + tgamma(d[2]);
}
__global__ void h(__half *p)
{
    p[0] = hsin(p[1]) + __hdiv(p[2], p[3]);
    atomicAdd(p, p[4]);
}
