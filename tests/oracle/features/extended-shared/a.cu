__device__ int eat(int *p);
__global__ void k(int *p)
{
    __shared__ int s[4000];
    s[threadIdx.x] = p[0];
    __syncthreads();
    p[0] = s[p[1]] + eat(p);
}
