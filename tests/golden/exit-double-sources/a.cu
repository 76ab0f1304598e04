// A loop with a fused multiply-add of doubles whose source is overwritten directly behind it, and an early exit behind
// a store: the slow unit has read its sources at once.
__constant__ float table[64];

extern "C" __global__ void sources_of_doubles(double *sums, short *counts, float *out, int n, int m)
{
    float place[8] = {0};
    int t = threadIdx.x + blockIdx.x * 64;
    double sum = sums[t];
    short count = 3;
    for (int i = t; i < n; i += 64) {
        place[(int)count & 7] = (float)count;
        sum = (double)table[i & 63];
        sum = fma((double)count, sum, 0.5);
        if ((float)sum > 1.5f)
            return;
        count = (short)sum ^ count;
    }
    sums[t] = sum;
    counts[t + 9] = count;
    if (m == 77)
        out[5] = place[n & 7];
}
