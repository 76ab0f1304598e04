// Drawn at random: sums in memory that nobody asks for, beside a parameter that is read in front of
// the loop.

extern "C" __global__ void sums_beside_parameter(float *sums, int *counts, float *x, int *y,
                                                 double *z, int n, int m, int o)
{
    __shared__ float part[64];
    int t = threadIdx.x, b = 3;
    float a = n;
    for (int i = 0; i < m; i++) {
        if (t < i) {
            atomicAdd(sums + b, 1.0f);
        }
        b = b * 3 + i;
        atomicMax(counts + (b & 31), i);
        atomicAdd(counts + t, b);
    }
    x[t] = a;
    y[t + o] = b;
    if (o > 5)
        return;
    z[b] = m;
    y[b] = n;
}
