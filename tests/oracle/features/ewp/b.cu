__device__ int beside(int x)
{
    return x * 4;
}
__global__ void k2(int *p)
{
    p[0] = beside(p[1]);
}
