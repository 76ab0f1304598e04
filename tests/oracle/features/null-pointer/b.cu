__device__ int f(int *p)
{
    __shared__ double q[3];
    q[threadIdx.x % 3] = p[0];
    __syncthreads();
    return q[1];
}
__global__ void n(int *p)
{
    p[0] = 1;
}
