#include <cstdio>
extern __device__ double deep(double *, int);
extern "C" __device__ int c_name(int *);
static __device__ __noinline__ void put(float *p, float v)
{
    *p = v * 2;
}
template <int N> __device__ __noinline__ float norm(const float *p)
{
    float s = 0;
    for (int i = 0; i < N; i++)
        s += p[i] * p[i];
    return sqrtf(s);
}
__constant__ double factors[4] = {1, 2, 3, 4};
__global__ void third(double *d, float *f)
{
    d[0] = deep(d + 3, 4) + factors[threadIdx.x & 3];
    put(f, norm<4>(f));
}
__global__ void fourth(int *p)
{
    __shared__ float t[4];
    printf("%d\n", c_name(p));
    put(t, 1.f);
    p[1] = (int)t[0];
}
