static __device__ int count = 10;
static __constant__ int scale = 20;
static __device__ __noinline__ int helper(int x)
{
    return x - scale - count++;
}
static __shared__ int buf[16];
__device__ int from_b(int x)
{
    buf[threadIdx.x & 15] = x;
    __syncthreads();
    return helper(buf[1]);
}
