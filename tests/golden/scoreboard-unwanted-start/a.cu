extern "C" __global__ void sums_where(float *sums, int *counts, float *x, int *y, double *z, int n, int m, int o)
{
    __shared__ float part[64];
    int t = threadIdx.x, b = t;
    float a = 1.5f;
    for (int i = 0; i < m; i++) {
        if (a > 3.0f) {
            a = a * 1.5f + 2.0f;
            for (int j1 = 0; j1 < b & 7; j1++) {
                atomicAdd(sums + b, 1.0f);
            }
            if (b & 1) {
                if (t < i) {
                    atomicAdd(sums + b, 1.0f);
                    atomicMax(counts + (b & 31), i);
                }
                atomicAdd(sums + (i & 63), a);
                atomicAdd(sums + (i & 63), a);
            }
        }
        if (t < i) {
            atomicAdd(sums + (i & 63), a);
            part[t & 63] = a;
        }
    }
    x[t] = a; y[t + o] = b;
    if (o > 5) return; z[b] = m; y[b] = n;
}
