__device__ int inside(int x)
{
    return x * 3;
}
__global__ void k(int *p)
{
    p[0] = inside(p[1]);
}
