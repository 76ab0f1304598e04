// Functions that are not inlined, and whose callers all hand over addresses of one memory.
__device__ int data[16];
__constant__ int table[16];

extern __device__ int scaled(int *p, int n);
extern __device__ double weighted(const double *p, int n, double w);

__device__ __noinline__ float shared_sum(const float *p, double w, int n)
{
    float s = 0;
    for (int i = 0; i < n; i++)
        s += p[i] * (float)w;
    return s;
}

__device__ __noinline__ int constant_sum(const int *p, int n)
{
    int s = 0;
    for (int i = 0; i < n; i++)
        s += p[i];
    return s;
}

__device__ __noinline__ int inner(int *p, int n)
{
    return p[n] + p[n + 1];
}

__device__ __noinline__ int outer(int *p, int n)
{
    int s = 0;
    for (int i = 0; i < n; i++)
        s += inner(p, i) * i;
    return s;
}

__device__ __noinline__ int by_small(int *p, char c, short h)
{
    return p[c] + p[h];
}

__global__ void first(int *out, const float *f, double w)
{
    __shared__ float tile[32];
    tile[threadIdx.x] = f[threadIdx.x];
    __syncthreads();
    out[0] = (int)shared_sum(tile, w, 32) + constant_sum(table, 16);
    out[5] = outer(data, out[7]) + scaled(out, 3) + by_small(out, (char)out[2], (short)out[3]);
}
