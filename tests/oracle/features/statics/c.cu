static __device__ int count;
static __device__ __noinline__ int helper(int x)
{
    return x ^ count++;
}
__device__ int from_c(int x)
{
    return helper(x) + helper(x + 1);
}
static __global__ void kstatic(int *p)
{
    p[0] = helper(p[0]);
}
void *keep()
{
    return (void *)kstatic;
}
