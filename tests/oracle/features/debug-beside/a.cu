__device__ int plain(int *p)
{
    return p[1] * 3;
}
__device__ int debugged(int *);
__global__ void caller(int *p)
{
    p[0] = debugged(p);
}
__global__ void leaf(int *p)
{
    if (p[1] > 3)
        return;
    p[0] = 1;
}
