template <class T> __device__ __noinline__ T sharedw(T x)
{
    return x * 7;
}
__device__ int fb(int x)
{
    return x + sharedw(x);
}
