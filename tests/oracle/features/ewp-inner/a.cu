static __device__ __noinline__ int inside(int x)
{
    return x * 3 + threadIdx.x;
}
__device__ __noinline__ int shown(int x)
{
    return inside(x) + 7;
}
typedef int (*function)(int);
__device__ function table[2] = {shown, inside};
__global__ void k(int *p, int n)
{
    __shared__ int s[16];
    s[threadIdx.x & 15] = p[1];
    __syncthreads();
    p[0] = shown(s[n & 15]) + inside(p[2]);
}
__global__ void k2(int *p, int n)
{
    p[0] = table[n & 1](p[1]) + inside(n);
}
