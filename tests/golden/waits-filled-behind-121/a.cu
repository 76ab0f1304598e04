__global__ void k(const double *__restrict__ in, double *out, int n, int s, double w)
{
    double v[8];
    int t = threadIdx.x + blockIdx.x * blockDim.x;
    int lane = threadIdx.x & 31;
#pragma unroll
    for (int i = 0; i < 8; i++)
        v[i] = in[t + i * 256];
#pragma unroll
    for (int st = 1; st < 8; st <<= 1) {
#pragma unroll
        for (int i = 0; i < 8; i++) {
            double o = __shfl_xor_sync(~0u, v[i], st);
            v[i] = v[i] + o;
        }
    }
    {
        unsigned m = __ballot_sync(~0u, lane > s);
        if (m >> 18 & 1)
            v[0] = __shfl_up_sync(0xffffffff, v[4], 20);
    }
#pragma unroll
    for (int st = 1; st < 8; st <<= 1) {
#pragma unroll
        for (int i = 0; i < 8; i++) {
            double o = __shfl_xor_sync(~0u, v[i], st);
            v[i] = (lane & st) ? v[i] + o : o + w;
        }
    }
    {
        double a = v[6], b = v[7];
        v[6] = a + b;
        v[7] = a * w;
    }
#pragma unroll
    for (int st = 1; st < 4; st <<= 1) {
#pragma unroll
        for (int i = 0; i < 8; i++) {
            double o = __shfl_xor_sync(~0u, v[i], st);
            v[i] = (lane & st) ? v[i] + o : o + w;
        }
    }
#pragma unroll
    for (int i = 0; i < 8; i++)
        out[t + i * n] = v[i];
}
