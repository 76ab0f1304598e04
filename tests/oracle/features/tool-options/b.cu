__device__ int f(int x)
{
    return x < 2 ? 1 : x * f(x - 1) + f(x - 2);
}
