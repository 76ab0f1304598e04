extern __shared__ int dyn[];
__device__ int f(int *p);
__global__ void k(int *p)
{
    __shared__ int s[10];
    s[threadIdx.x % 10] = p[0];
    __syncthreads();
    p[0] = s[1] + f(p);
}
__global__ void d(int *p)
{
    dyn[threadIdx.x] = p[0];
    __syncthreads();
    p[0] = dyn[p[1]];
}
