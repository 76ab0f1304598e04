template <class T, int N> struct Vec {
    T v[N];
    __device__ __noinline__ T dot(const Vec &o) const
    {
        T sum = 0;
        for (int i = 0; i < N; i++)
            sum += v[i] * o.v[i];
        return sum;
    }
};
extern "C" __global__ void NAME(Vec<double, 2> *p) { p[0].v[0] = p[1].dot(p[2]); }
