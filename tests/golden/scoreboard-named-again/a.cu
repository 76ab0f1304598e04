// Drawn at random: sums in memory that nobody asks for, in loops.

extern "C" __global__ void sums_of_constant(float *sums, int *counts, float *x, int *y, double *z,
                                            int n, int m, int o)
{
    __shared__ float part[64];
    int t = threadIdx.x, b = 3;
    float a = n;
    for (int i = 0; i < m; i++) {
        atomicAdd(sums + b, 1.0f);
        b = b * 3 + i;
        if (a > 3.0f) {
            atomicOr(counts + i, 3);
        }
    }
    x[t] = a;
    y[t + o] = b;
    z[t] = a;
}
