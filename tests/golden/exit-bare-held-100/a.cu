// A store in front of an early exit takes the number of a parameter that was read three blocks before, in front of a
// shuffle, and would still not be there.
extern "C" __global__ void store_behind_shuffle(float *out, int n, int m)
{
    __shared__ float part[64];
    int t = threadIdx.x + n;
    float a = out[t];
    float b = out[t];
    for (int i = t; i < n; i += 64) {
        a = __shfl_xor_sync(~0u, a, 4) + b;
        b = b / b;
        out[t * 4 + i] = a;
        a = fmaf(a, a, 0.5f);
        a = floorf(a) * b;
        if (t + i >= n)
            return;
        for (int j = 0; j < m; j++) {
            a = a + part[63 - (t & 63)];
            b = fmaf(b, b, 0.5f);
            b = b + part[t & 63];
            a = sqrtf(a) - b;
            b = b + part[(int)(unsigned)a & 63];
        }
    }
    out[t] = a;
    out[t + 9] = b;
}
