// Drawn at random: sums in memory that nobody asks for, in loops in a loop.

extern "C" __global__ void sums_in_loops(float *sums, int *counts, float *x, int *y, double *z,
                                         int n, int m, int o)
{
    __shared__ float part[64];
    int t = threadIdx.x + blockIdx.x * 64, b = o;
    float a = n;
    for (int i = t; i < n; i += 64) {
        if (i == m) {
            atomicAdd(sums + b, 1.0f);
            part[t & 63] = a;
            if (i == m) {
                if (t < i) {
                    a += part[63 - (t & 63)];
                    atomicOr(counts + i, 3);
                }
                __syncthreads();
            }
            atomicOr(counts + i, 3);
        }
        for (int j0 = 0; j0 < n; j0++) {
            for (int j1 = 0; j1 < b & 7; j1++) {
                atomicAdd(sums + (i & 63), a);
                atomicAdd(sums + b, 1.0f);
                atomicOr(counts + i, 3);
                atomicAdd(counts + t, b);
            }
            atomicAdd(sums + b, 1.0f);
            if (t < i) {
            }
        }
        for (int j0 = 0; j0 < m; j0++) {
            for (int j1 = 0; j1 < m; j1++) {
                a = a * 1.5f + 2.0f;
                a = a * 1.5f + 2.0f;
                atomicAdd(sums + (i & 63), a);
            }
            b = b * 3 + i;
        }
        if (t < i) {
            if (i == m) {
                if (a > 3.0f) {
                    atomicMax(counts + (b & 31), i);
                    atomicAdd(sums + (i & 63), a);
                    atomicOr(counts + i, 3);
                }
            }
            b = b * 3 + i;
            atomicOr(counts + i, 3);
        }
    }
    x[t] = a;
    y[t + o] = b;
    if (o > 5)
        return;
    z[b] = m;
    y[b] = n;
}
