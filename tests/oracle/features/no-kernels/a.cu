__device__ int g = 4;
__device__ int f(int x)
{
    return x + g;
}
