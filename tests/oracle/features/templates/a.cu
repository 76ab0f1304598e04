#include "t.h"
__device__ int other(int *p);
template <class T> __global__ void kern(T *p, int n)
{
    Vec<T, 4> v = {{p[0], p[1], p[2], p[3]}};
    p[0] = apply(p, n) + v.sum() + stored<T>;
}
template __global__ void kern<int>(int *, int);
template __global__ void kern<float>(float *, int);
template __global__ void kern<double>(double *, int);
__global__ void ka(int *p)
{
    p[1] = other(p) + twice(p[2]);
}
