#include "t.h"
__device__ int other(int *p)
{
    return apply(p, p[7]) + twice(p[3]) + stored<int>;
}
__global__ void kb(double *p)
{
    p[0] = apply(p, 5) + stored<double>;
}
