__device__ int twice(int x)
{
    return x + 2;
}
__device__ int var = 4;
__device__ int unin;
__global__ void k(int *p)
{
    p[0] = twice(p[2]) - var;
}
