template <class T> __device__ __noinline__ T wpoly(T x)
{
    return (x * 1.2345678901234 + 2.3456789012345) * x + 3.4567890123456;
}
__device__ double poly(double x)
{
    return exp(x) * 9.8765432109876 + log(x) + wpoly(x);
}
__device__ double dead(double x)
{
    return x * 7.7777777777777 + 8.888888888888;
}
