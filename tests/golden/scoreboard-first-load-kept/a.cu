extern "C" __global__ void sums(float *sums, int *counts, float *x, int *y, double *z, int n, int m, int o)
{
    __shared__ float part[64];
    int t = threadIdx.x + blockIdx.x * 64, b = 3;
    float a = t;
    for (int i = 0; i < m; i++) {
        atomicAdd(counts + t, b);
        for (int j0 = 0; j0 < b & 7; j0++) {
            for (int j1 = 0; j1 < b & 7; j1++) {
                __syncthreads();
                if (t < i) {
                    atomicAdd(sums + b, 1.0f);
                    atomicMax(counts + (b & 31), i);
                    part[t & 63] = a;
                }
                atomicMax(counts + (b & 31), i);
            }
            if (t < i) {
                atomicMax(counts + (b & 31), i);
                if (t < i) {
                }
            }
        }
        atomicOr(counts + i, 3);
    }
    x[t] = a; y[t + o] = b;
    z[t] = a;
}
