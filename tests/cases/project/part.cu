#include "part.h"

__device__ int counter;
__constant__ int table[16] = {1, 2, 3, 5, 8};

static __device__ int triple(int x)
{
    return 3 * x;
}

__device__ operation chosen = triple;

__device__ int scale(int x)
{
    atomicAdd(&counter, 1);
    return twice(x) * table[x & 15];
}

__device__ int shape::area(int x) const
{
    return x * sides;
}

__global__ void part_kernel(int *data, int n)
{
    __shared__ int tile[64];
    int i = threadIdx.x;
    tile[i & 63] = data[i];
    __syncthreads();
    if (i < n)
        data[i] = scale(tile[(i + 1) & 63]);
}

void launch_part(int *data, int n)
{
    part_kernel<<<1, 64>>>(data, n);
}
