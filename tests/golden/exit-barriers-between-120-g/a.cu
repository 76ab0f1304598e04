__global__ void sum(const double *in, double *out, int m)
{
    __shared__ double s[512];
    int t = threadIdx.x, k = blockIdx.x * blockDim.x + t;
    double v = 0;
    for (int j = 0; j < m; j++)
        v += in[k + j];
    unsigned x;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(x));
    s[t] = v + x;
    __syncthreads();
    for (int i = 256; i; i >>= 1) {
        if (t < i)
            s[t] += s[t + i];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = s[0];
}
