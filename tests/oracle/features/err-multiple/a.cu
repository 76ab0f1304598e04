__device__ int twice(int x)
{
    return x + 1;
}
__device__ int var = 3;
__device__ int unin;
__global__ void k(int *p)
{
    p[0] = twice(p[1]) + var + unin;
}
