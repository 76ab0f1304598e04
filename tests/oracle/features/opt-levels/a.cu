__device__ double fb(double x, int *p);
__constant__ int ca = 5;
__global__ void k(double *d, int *p)
{
    __shared__ int s[9];
    s[threadIdx.x % 9] = ca;
    __syncthreads();
    d[0] = fb(d[1], p) + s[p[0] % 9] * 3.3333333333;
}
