__device__ int more[8];

extern __device__ int outer(int *p, int n);

__device__ __noinline__ int scaled(int *p, int n)
{
    int s = 1;
    for (int i = 0; i < n; i++)
        s *= p[i] + more[i & 7];
    return s;
}

__device__ __noinline__ double weighted(const double *p, int n, double w)
{
    double s = 1;
    for (int i = 0; i < n; i++)
        s += p[i] * w;
    return s;
}

__device__ __noinline__ int in_place(int *p, int n)
{
    int s = 1;
    for (int i = 0; i < n; i++) {
        p[i] += s;
        s ^= p[i];
    }
    return s;
}

__device__ __noinline__ int branches(int *p, int n)
{
    return n > 3 ? outer(p, n - 1) * scaled(p, n - 2) : scaled(p, n);
}

__global__ void second(int *out, const double *d)
{
    int local[20];
    for (int i = 0; i < 20; i++)
        local[i] = out[i];
    out[1] = scaled(more, 8) + (int)weighted(d, 9, d[3]);
    out[2] = in_place(local, 20) + branches(out, out[9]) + local[out[3] & 15];
}
