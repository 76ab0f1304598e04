__device__ int f(int);
__global__ void k(int *p)
{
    p[0] = f(p[1]);
}
