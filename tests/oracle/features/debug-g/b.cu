#include "d.h"
extern __device__ int global_v;
static __device__ int twice(int x)
{
    return 2 * x;
}
template <class T> __device__ T generic(T a)
{
    T b = a + 1;
    return b;
}
__device__ int helper(Pair p)
{
    int r = twice(p.a);
    return r + generic(p.b) + global_v;
}
__device__ int dead(Pair p)
{
    return helper(p) + 2;
}
__global__ void k2(float *p)
{
    *p = sinf(*p);
}
