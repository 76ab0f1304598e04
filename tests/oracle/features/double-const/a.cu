__device__ double poly(double x);
template <class T> __device__ __noinline__ T wpoly(T x)
{
    return (x * 1.2345678901234 + 2.3456789012345) * x + 3.4567890123456;
}
__global__ void k1(double *p)
{
    p[0] = poly(p[1]) * 1.1111111111111 + wpoly(p[2]);
}
__global__ void k2(double *p)
{
    p[0] = sin(p[0]) + wpoly(p[1]);
}
__global__ void k3(int *p)
{
    *p = 2;
}
