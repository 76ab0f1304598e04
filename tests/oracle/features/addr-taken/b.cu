__device__ int inner(int x);
__device__ int one(int x)
{
    return inner(x) + 1;
}
__device__ float lonely(float x)
{
    return x * inner(3);
}
__device__ double nobody(double x)
{
    return x;
}
__device__ double (*holder)(double) = nobody;
__device__ int inner(int x)
{
    int a[10];
    for (int i = 0; i < 10; i++)
        a[i] = x * i;
    return a[x % 10];
}
