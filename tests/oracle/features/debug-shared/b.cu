template <class T> __global__ void wk(T *q, int a)
{
    __shared__ double v1[256];
    v1[threadIdx.x] = a;
    __syncthreads();
    q[1] = (T)v1[a & 7];
}
template __global__ void wk<int>(int *, int);
__device__ __noinline__ int df(int x)
{
    __shared__ int ds[10];
    ds[x & 7] = x;
    __syncthreads();
    return ds[x & 3];
}
__global__ void kb(int *p)
{
    __shared__ int s[4];
    s[p[0] & 3] = 2;
    __syncthreads();
    p[0] = s[1] + df(p[1]);
}
