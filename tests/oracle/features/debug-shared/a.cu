template <class T> __global__ void wk(T *q, int a)
{
    __shared__ double v1[256];
    v1[threadIdx.x] = a;
    __syncthreads();
    q[0] = (T)v1[a & 3];
}
template __global__ void wk<int>(int *, int);
__global__ void kn(int *p)
{
    __shared__ char c[3];
    c[p[0] % 3] = 1;
    __syncthreads();
    p[0] = c[1];
}
