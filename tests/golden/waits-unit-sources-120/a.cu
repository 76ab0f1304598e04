__device__ __noinline__ double f6(double a, double b) { return a / b; }
__global__ void k(const double *in, double *out, const int *ix, float *fo, int n, int s, double w)
{
    double v[3];
    int t = threadIdx.x + blockIdx.x * blockDim.x;
    float g = s;
    int q0 = n;
    if (t >= n)
        return;
#pragma unroll
    for (int i = 0; i < 3; i++)
        v[i] = w * i;
    v[1] = f6(v[0], v[1]);
    fo[t + 8] = (float)(v[1] + v[1]);
    v[0] = in[q0];
    v[1] += __shfl_xor_sync(~0u, v[1], 2);
#pragma unroll
    for (int i = 0; i < 3; i++)
        out[t + i * n] = v[i];
    fo[t] = g + q0;
}
