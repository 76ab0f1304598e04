__device__ float heavy(float *p);
__global__ void __launch_bounds__(128, 2) k1(float *p)
{
    p[0] = heavy(p);
}
__global__ void __launch_bounds__(64) k2(float *p)
{
    p[threadIdx.x] = 1;
}
__global__ void k3(float *p)
{
    p[1] = heavy(p) * 2;
}
