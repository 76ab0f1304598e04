// A sum of doubles directly in front of an early exit: the slow unit has read its sources at once.
extern "C" __global__ void sum_before_exit(double *sums, unsigned *counts, float *out, int n, int m)
{
    float place[8] = {0};
    int t = threadIdx.x + blockIdx.x * 64;
    double fixed = 2.25;
    unsigned a = counts[t];
    unsigned b = counts[n + 2];
    double sum = 2.25;
    for (int i = threadIdx.y; i < n; i += blockDim.y) {
        for (int j = 0; j < 4; j++)
            sum = __shfl_down_sync(~0u, (double)a, 4) + sum;
        if (t + i >= n)
            return;
    }
    sums[t] = fixed;
    counts[t + 9] = a;
    counts[t + 18] = b;
    sums[t + 27] = sum;
    if (m == 77)
        out[5] = place[n & 7];
}
