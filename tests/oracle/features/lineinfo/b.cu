#include "x.h"
__device__ float outside(float x)
{
    return inl(x) * 3;
}
__device__ float dead(float x)
{
    return outside(x) - 1;
}
__global__ void k2(float *p)
{
    p[0] = inl(p[0]);
}
