extern "C" {
extern __device__ int thing;
}
__global__ void k(int *p)
{
    p[0] = thing;
}
