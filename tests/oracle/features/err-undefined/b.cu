__device__ int nowhere(int);
__device__ void missing2(int *);
__global__ void k2(int *p)
{
    p[0] = nowhere(p[1]);
    missing2(p);
}
