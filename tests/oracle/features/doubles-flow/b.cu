__device__ double outside(double x, int n)
{
    for (int k = 0; k < n; k++)
        x = x * x + 0.5;
    return x;
}

// shared memory, exchanges
extern "C" __global__ void together(double *a, double b)
{
    __shared__ double s[64];
    s[threadIdx.x] = a[threadIdx.x] + b;
    __syncthreads();
    double x = s[63 - threadIdx.x];
    a[threadIdx.x] = __shfl_xor_sync(~0u, x, 1) + b;
}
