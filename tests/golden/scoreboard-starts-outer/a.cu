// Drawn at random: sums in memory that nobody asks for, in a loop in a loop.

extern "C" __global__ void sums_in_inner(float *sums, int *counts, float *x, int *y, double *z,
                                         int n, int m, int o)
{
    __shared__ float part[64];
    int t = threadIdx.x, b = 3;
    float a = t;
    for (int i = t; i < n; i += 64) {
        atomicAdd(counts + t, b);
        if (b & 1) {
            atomicOr(counts + i, 3);
            a = a * 1.5f + 2.0f;
            for (int j1 = 0; j1 < n; j1++) {
                a = a * 1.5f + 2.0f;
                atomicMax(counts + (b & 31), i);
                atomicAdd(sums + (i & 63), a);
            }
        }
        atomicOr(counts + i, 3);
    }
    x[t] = a;
    y[t + o] = b;
    if (o > 5)
        return;
    z[b] = m;
    y[b] = n;
}
