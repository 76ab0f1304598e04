#include "h.h"
__device__ int leaf_a(int x)
{
    return x * 3;
}
__global__ void k(int *p)
{
    __shared__ Handler h[8];
    fill(h, threadIdx.x & 7);
    __syncthreads();
    p[threadIdx.x] = h[p[0] & 7].run(p[1]) + h[p[0] & 7].weight;
}
