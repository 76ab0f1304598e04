#include "d.h"
__device__ int helper(Pair p);
__device__ int global_v = 4;
__constant__ float cf = 2;
template <class T> __device__ T generic(T a)
{
    T b = a + 1;
    return b;
}
__global__ void k(int *p, Pair q)
{
    __shared__ int s[8];
    int local[4] = {1, 2, 3, 4};
    s[threadIdx.x & 7] = local[p[0] & 3];
    __syncthreads();
    p[1] = helper(q) + generic(s[0]) + global_v + cf;
}
