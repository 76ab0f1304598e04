extern "C" __global__ void sums(float *out, int *counts, const float *in, const int *group, int n)
{
    __shared__ float sum[2048];
    __shared__ int count[128];
    int t = threadIdx.x, at = blockIdx.x * blockDim.x + t;
    if (t < 128)
        count[t] = 0;
#pragma unroll
    for (int k = 0; k < 16; k++)
        if (t + k * 128 < 2048)
            sum[t + k * 128] = 0;
    __syncthreads();
    if (at < n) {
        int g = group[at];
#pragma unroll
        for (int k = 0; k < 16; k++)
            atomicAdd(&sum[g * 16 + k], in[at * 16 + k]);
        atomicAdd(&count[g], 1);
    }
    __syncthreads();
    if (t < 128)
        atomicAdd(&counts[t], count[t]);
#pragma unroll
    for (int k = 0; k < 16; k++)
        if (t + k * 128 < 2048)
            atomicAdd(&out[t + k * 128], sum[t + k * 128]);
}
