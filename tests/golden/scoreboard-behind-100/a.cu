// A histogram in shared memory.  Behind the loop that clears it stand LDC, a barrier of the block,
// and between them an instruction whose stall count grows.
__global__ void histogram(const unsigned char *a, int *h, int n, int m)
{
    __shared__ int s[256];
    for (int j = threadIdx.x; j < 256; j += blockDim.x)
        s[j] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        int v = (int)a[i];
        if (v < m)
            atomicAdd(&s[v & 255], 1);
    }
    __syncthreads();
    for (int j = threadIdx.x; j < 256; j += blockDim.x)
        if (s[j])
            atomicAdd(&h[j], s[j]);
}
