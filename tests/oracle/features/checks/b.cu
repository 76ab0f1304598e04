#include <cassert>
#include <cstdio>
__device__ int *grab(int n)
{
    assert(n < 1000);
    return (int *)malloc(n * sizeof(int));
}
__device__ __noinline__ void report(const char *what, int v)
{
    unsigned lane, mask;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    asm volatile("activemask.b32 %0;" : "=r"(mask));
    if (lane == __ffs(mask) - 1)
        printf("%s %d %llx %f\n", what, v, (long long)clock64(), v * 0.123456789);
    assert(v != 3);
}
__global__ void call(int v)
{
    report("direct", v);
}
