__device__ int fb(int);
__device__ int fc(int);
template <class T> __device__ __noinline__ T sharedw(T x)
{
    return x * 7;
}
__global__ void k(int *p)
{
    p[0] = fb(p[0]) + fc(p[1]) + sharedw(p[2]);
}
