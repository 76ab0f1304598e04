__global__ void k(const double *__restrict__ in, double *out, const int *ix, float *fo, int n,
                  int s, double w)
{
    double v[8];
    int t = threadIdx.x + blockIdx.x * blockDim.x;
    float g = s;
    int q0 = n;
    __shared__ double sm[256];
    if (t >= n)
        return;
#pragma unroll
    for (int i = 0; i < 8; i++)
        v[i] = in[t + i * n];

#pragma unroll 1
    for (int i = 0; i < 3; i++) {
        sm[threadIdx.x & 63] = (double)g;
        __syncthreads();
        v[0] += sm[(threadIdx.x + 55) & 63];
        __syncthreads();
        out[t + 6] = fma(v[6], (double)q0, w);
    }
    fo[t + 0] = (float)6.5;
    if (q0 > w) {
        v[3] = sqrt(v[1]);
    }
    fo[t + 7] = (float)(4.5 - w);
    g = fo[t];
#pragma unroll
    for (int i = 0; i < 8; i++)
        out[t * 8 + i] = v[i];
    fo[t] = g + q0;
}
