// What many programs hold, with more results pending than there are scoreboards.
__global__ void neighbours(const unsigned char *a, unsigned char *b, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, n = 0;
    for (int j = -1; j <= 1; j++)
        for (int i = -1; i <= 1; i++)
            if (i || j)
                n += a[((y + j + h) % h) * w + (x + i + w) % w];
    b[y * w + x] = n == 3 || (n == 2 && a[y * w + x]);
}

__global__ void rows(const int *first, const int *column, const double *v, const double *x,
                     double *y, int n)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
    if (row >= n)
        return;
    double s = 0;
    for (int j = first[row] + lane; j < first[row + 1]; j += 32)
        s += v[j] * x[column[j]];
    for (int o = 16; o; o >>= 1)
        s += __shfl_down_sync(~0u, s, o);
    if (!lane)
        y[row] = s;
}

__global__ void bins(const unsigned char *d, int n, unsigned *h)
{
    __shared__ unsigned s[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        s[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&s[d[i]], 1);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        if (s[i])
            atomicAdd(&h[i], s[i]);
}

__global__ void points(const float *__restrict__ a, float *b, int nx, int ny, int nz)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y * blockDim.y + threadIdx.y + 1;
    if (x >= nx - 1 || y >= ny - 1)
        return;
    long s = (long)nx * ny;
    const float *p = a + y * nx + x;
    float m = p[0], c = p[s];
    for (int z = 1; z < nz - 1; z++) {
        float u = p[(z + 1) * s];
        b[z * s + y * nx + x] =
            c * -6 + m + u + p[z * s + 1] + p[z * s - 1] + p[z * s + nx] + p[z * s - nx];
        m = c;
        c = u;
    }
}

__global__ void sums(int *d, int n)
{
    extern __shared__ int t[];
    int i = threadIdx.x, o = 1;
    t[2 * i] = d[2 * i];
    t[2 * i + 1] = d[2 * i + 1];
    for (int k = n >> 1; k > 0; k >>= 1) {
        __syncthreads();
        if (i < k)
            t[o * (2 * i + 2) - 1] += t[o * (2 * i + 1) - 1];
        o *= 2;
    }
    if (i == 0)
        t[n - 1] = 0;
    for (int k = 1; k < n; k *= 2) {
        o >>= 1;
        __syncthreads();
        if (i < k) {
            int a = o * (2 * i + 1) - 1, b = o * (2 * i + 2) - 1, v = t[a];
            t[a] = t[b];
            t[b] += v;
        }
    }
    __syncthreads();
    d[2 * i] = t[2 * i];
    d[2 * i + 1] = t[2 * i + 1];
}

__global__ void remainders(double *a, double *b, double *o)
{
    double x = a[threadIdx.x], y = b[threadIdx.x];
    o[threadIdx.x] = fmod(x, y) + remainder(x, y) + hypot(x, y);
}
