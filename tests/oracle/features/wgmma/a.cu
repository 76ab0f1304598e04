__device__ void mul(float *d, unsigned long long a, unsigned long long b);
__global__ void __launch_bounds__(384) k(float *p, unsigned long long a, unsigned long long b)
{
    if (threadIdx.x < 128)
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    else
        asm volatile("setmaxnreg.inc.sync.aligned.u32 160;");
    p[threadIdx.x] = a + b;
}
__global__ void k2(float *p, unsigned long long a, unsigned long long b)
{
    mul(p, a, b);
}
