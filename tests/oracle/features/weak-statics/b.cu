/* Variables of templates and inline functions are weak: one of each remains. */
template <typename T, int N> __device__ T slots[N];
template <typename T, int N> __constant__ T scale = T(N) / 3;
template <typename T, int N> __device__ T *take(int i)
{
    return &slots<T, N>[i % N];
}
template <int N> __device__ int table[4] = {N, N + 1, N + 2, N + 3};
inline __device__ int *counter()
{
    static __device__ int count = 7;
    static __shared__ int local[32];
    local[threadIdx.x % 32] = count;
    __syncthreads();
    return local[0] ? &count : nullptr;
}
template <typename T> __global__ void fill(T *out, T value)
{
    out[threadIdx.x] = value * scale<T, 8> + *take<T, 8>(threadIdx.x);
}
template __global__ void fill<float>(float *, float);
template __global__ void fill<int>(int *, int);
__device__ double other(double x)
{
    return x * scale<double, 4> + *counter() + table<3>[1] + table<5>[int(x) & 3];
}
