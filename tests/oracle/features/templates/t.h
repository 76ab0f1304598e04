template <class T, int N> struct Vec {
    T v[N];
    __device__ T sum() const
    {
        T s = 0;
        for (int i = 0; i < N; i++)
            s += v[i];
        return s;
    }
};
template <class T> __device__ __noinline__ T twice(T x)
{
    return x + x;
}
template <class T> __device__ __noinline__ T apply(T *p, int n)
{
    T s = 0;
    for (int i = 0; i < n; i++)
        s += twice(p[i]);
    return s;
}
template <class T> __device__ T stored = T(3);
