// Drawn at random: sums in memory that nobody asks for, in two loops one behind the other.

extern "C" __global__ void sums_behind_sums(float *sums, int *counts, float *x, int *y, double *z,
                                            int n, int m, int o)
{
    __shared__ float part[64];
    int t = threadIdx.x + blockIdx.x * 64, b = 3;
    float a = 1.5f;
    for (int i = 0; i < m; i++) {
        atomicOr(counts + i, 3);
        a += part[63 - (t & 63)];
    }
    x[t] = a;
    y[t + o] = b;
}
