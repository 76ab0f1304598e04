__device__ int odd(int n);
__device__ int even(int n)
{
    return n == 0 ? 1 : odd(n - 1);
}
__device__ int dead_ring(int n)
{
    return n ? dead_ring(n - 2) : 4;
}
__global__ void k2(int *p)
{
    p[0] = odd(p[0]) + odd(p[1] + 1);
}
