__device__ int bottom(int *p);
__device__ int left(int *p)
{
    __shared__ char c[13];
    c[threadIdx.x % 13] = p[2];
    __syncthreads();
    return bottom(p) + c[p[3] % 13];
}
__device__ int right(int *p)
{
    __shared__ double d[5];
    d[threadIdx.x % 5] = p[4];
    asm volatile("bar.sync 9;");
    return bottom(p + 1) + (int)d[p[5] % 5];
}
