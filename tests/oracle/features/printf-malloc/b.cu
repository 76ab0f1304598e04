#include <stdio.h>
#include <stdlib.h>
#include <assert.h>
__device__ int *grab(int n)
{
    printf("grab %d\n", n);
    return (int *)malloc(n * 4);
}
__device__ void drop(int *p)
{
    assert(p[0] >= 0);
    free(p);
}
__global__ void k2(double *d)
{
    double *q = new double[(int)d[0]];
    q[0] = d[1];
    printf("%f\n", q[0]);
    delete[] q;
}
