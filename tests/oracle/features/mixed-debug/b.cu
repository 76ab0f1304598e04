template <class T> __device__ __noinline__ T sharedw(T x)
{
    return x * 7;
}
__device__ int fb(int x)
{
    return x + sharedw(x);
}
__global__ void publish(int *p)
{
    p[0] = 1;
    __threadfence_block();
    p[threadIdx.x + 1] = 2;
}
