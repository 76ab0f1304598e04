__device__ __forceinline__ float inl(float x)
{
    float y = x * x;
    return y + 1;
}
template <class T> __device__ __noinline__ T weakf(T x)
{
    return x - 2;
}
