// Drawn at random: results of atomic operations that nobody asked for hold all numbers where
// parameters are read.

extern "C" __global__ void sums_a(float *sums, int *counts, float *x, int *y, double *z, int n,
                                  int m, int o)
{
    __shared__ float part[64];
    int t = threadIdx.x, b = o;
    float a = n;
    for (int i = t; i < n; i += 64) {
        atomicMax(counts + (b & 31), i);
        __syncthreads();
        a += (float)b;
        atomicAdd(sums + b, 1.0f);
    }
    x[t] = a;
    y[t + o] = b;
    if (m == 77)
        z[t] = o;
}

extern "C" __global__ void sums_b(float *sums, int *counts, float *x, int *y, double *z, int n,
                                  int m, int o)
{
    __shared__ float part[64];
    int t = threadIdx.x + blockIdx.x * 64, b = 3;
    float a = 1.5f;
    for (int i = 0; i < m; i++) {
        atomicAdd(counts + t, b);
        for (int j0 = 0; j0 < m; j0++) {
            atomicAdd(counts + t, b);
        }
        a += (float)b;
        for (int j0 = 0; j0 < b & 7; j0++) {
            a += (float)b;
            __syncthreads();
            atomicAdd(sums + b, 1.0f);
            atomicMax(counts + (b & 31), i);
        }
    }
    x[t] = a;
    y[t + o] = b;
    if (m == 77)
        z[t] = o;
}

extern "C" __global__ void sums_c(float *sums, int *counts, float *x, int *y, double *z, int n,
                                  int m, int o)
{
    __shared__ float part[64];
    int t = threadIdx.x, b = o;
    float a = n;
    for (int i = t; i < n; i += 64) {
        if (b & 1) {
            for (int j1 = 0; j1 < m; j1++) {
                atomicAdd(sums + (i & 63), a);
            }
        }
        if (a > 3.0f) {
            atomicMax(counts + (b & 31), i);
            atomicAdd(sums + (i & 63), a);
            __syncthreads();
            atomicAdd(counts + t, b);
        }
        atomicMax(counts + (b & 31), i);
        __syncthreads();
    }
    x[t] = a;
    y[t + o] = b;
    if (o > 5)
        return;
    z[b] = m;
    y[b] = n;
}

extern "C" __global__ void sums_d(float *sums, int *counts, float *x, int *y, double *z, int n,
                                  int m, int o)
{
    __shared__ float part[64];
    int t = threadIdx.x + n, b = t;
    float a = n;
    for (int i = 0; i < m; i++) {
        atomicAdd(sums + (i & 63), a);
        atomicOr(counts + i, 3);
        for (int j0 = 0; j0 < b & 7; j0++) {
            atomicOr(counts + i, 3);
            if (i == m) {
                a = a * 1.5f + 2.0f;
            }
        }
    }
    x[t] = a;
    y[t + o] = b;
    if (m == 77)
        z[t] = o;
}
