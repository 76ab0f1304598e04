#include <stdio.h>
#include <assert.h>
__device__ int *grab(int n);
__device__ void drop(int *p);
__global__ void k(int n)
{
    int *p = grab(n);
    assert(p != 0);
    printf("%d %p %s\n", n, p, "text");
    drop(p);
}
