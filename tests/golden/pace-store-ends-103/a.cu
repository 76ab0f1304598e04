extern "C" __global__ void ratios(float *out, int n, double d)
{
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x)
        out[i] = d / (i * 3 + 1e-6);
}
