__device__ void acquire(int *w)
{
    while (atomicCAS(w, 0, 1))
        __nanosleep(10);
    __threadfence();
}
__global__ void s(int *p)
{
    __shared__ int c[4];
    __shared__ unsigned short h[2];
    atomicInc((unsigned *)&c[1], 9);
    atomicCAS(&h[0], (unsigned short)1, (unsigned short)2);
    __syncthreads();
    p[0] = c[1] + h[0] + __syncthreads_count(p[1]);
}
