extern "C" __device__ int pf(int a);
__global__ void k(int *p)
{
    p[0] = pf(3);
}
