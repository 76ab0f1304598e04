extern __device__ int g;
__device__ int f(int x);
__device__ int (*fp)(int) = f;
__device__ int h(int x)
{
    return f(x) * g;
}
