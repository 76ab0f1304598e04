__device__ int used(int x)
{
    return x * x;
}
__device__ int never2(int x);
__device__ int never1(int x)
{
    __shared__ int sh[3];
    sh[x % 3] = x;
    __syncthreads();
    return never2(x) + sh[1];
}
__device__ int never2(int x)
{
    return x ? never1(x - 1) : 0;
}
__device__ double unused_double = 2.0;
__device__ int (*taken)(int) = never2;
