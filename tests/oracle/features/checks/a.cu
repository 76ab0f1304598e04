#include <cassert>
#include <cstdio>
extern __device__ int *grab(int);
extern __device__ void report(const char *, int);
__global__ void __launch_bounds__(64, 2) check(int *p, int n)
{
    assert(n > 0 && "positive");
    int *mine = grab(n);
    if (!mine)
        __trap();
    for (int i = 0; i < n; i++)
        mine[i] = p[i] / (n - i + 1) + __float2int_rn(__fdividef(p[i], 3.f));
    report("sum", mine[n - 1]);
    memcpy(p, mine, n * sizeof *p);
    free(mine);
    if (n == 77)
        asm volatile("brkpt;");
    __nanosleep(20);
}
