__device__ int eat(int *p)
{
    __shared__ int s[9000];
    s[threadIdx.x] = p[0];
    __syncthreads();
    return s[p[1]];
}
