__device__ int nowhere(int);
__device__ int gone(int);
extern __device__ int novar;
extern __constant__ float noconst;
__device__ int dead(int x)
{
    return gone(x);
}
__global__ void k(int *p)
{
    p[0] = nowhere(p[1]) + novar + (int)noconst;
}
