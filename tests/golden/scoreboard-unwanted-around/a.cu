// Sums in memory that nobody asks for, unrolled four times: the end of the loop's first block waits for the number of
// one from before only where the loop takes it again and nothing held it before the loop.
extern "C" __global__ void sums_around(double *sums, unsigned *counts, float *out, int n, int m)
{
    __shared__ unsigned part[64];
    float place[8] = {0};
    int t = threadIdx.x;
    unsigned a = 82;
    float b = 1.5f;
    for (int i = t; i < n; i += 64) {
        __syncthreads();
        if (i == m) {
            a = a + part[(int)a & 63];
            __syncthreads();
            atomicAdd(sums + ((int)(unsigned)b & 63), (double)b);
        }
        place[((int)a & 63) & 7] = (float)a;
    }
    counts[t] = a;
    out[t + 9] = b;
    if (m == 77)
        out[5] = place[n & 7];
}
