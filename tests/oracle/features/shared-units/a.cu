extern __shared__ float fa[];
template <typename T> struct area {
    __device__ T *get() const
    {
        extern __shared__ unsigned char raw[];
        return reinterpret_cast<T *>(raw);
    }
};
__shared__ int own[8];
__device__ float reduce(float v, int n);
__device__ int rank(int i);
__global__ void ka(float *out, int n)
{
    area<double> all;
    fa[threadIdx.x] = out[threadIdx.x];
    own[threadIdx.x & 7] = n;
    __syncthreads();
    out[0] = reduce(fa[n], n) + all.get()[n] + own[n & 7] + rank(n);
}
__global__ void kb(double *out)
{
    __shared__ double tile[33][8];
    tile[threadIdx.x][threadIdx.y] = out[threadIdx.x];
    __syncthreads();
    out[1] = tile[threadIdx.y][threadIdx.x & 7] + rank(3);
}
