extern __shared__ double fb[];
static __shared__ int own[16];
__device__ float reduce(float v, int n)
{
    __shared__ float partial[32];
    partial[threadIdx.x & 31] = v;
    fb[threadIdx.x] = v;
    __syncthreads();
    for (int i = n; i; i /= 2)
        partial[threadIdx.x & 31] += partial[(threadIdx.x + i) & 31];
    own[threadIdx.x & 15] = n;
    return partial[0] + fb[n];
}
__device__ int rank(int i)
{
    __shared__ int order[5];
    order[i % 5] = i;
    __syncthreads();
    return order[(i + 1) % 5] + own[i & 15];
}
__global__ void kc(int *out)
{
    out[0] = rank(out[1]);
}
