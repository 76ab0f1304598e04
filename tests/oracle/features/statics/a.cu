static __device__ int count = 1;
static __constant__ int scale = 2;
static __device__ __noinline__ int helper(int x)
{
    return x * scale + count++;
}
static __shared__ int buf[32];
__device__ int from_b(int);
__device__ int from_c(int);
__global__ void ka(int *p)
{
    buf[threadIdx.x] = p[0];
    __syncthreads();
    p[1] = helper(buf[3]) + from_b(p[2]) + from_c(p[3]);
}
