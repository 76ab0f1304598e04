extern __shared__ float dyn[];
extern __shared__ __align__(32) double dyn2[];
static __shared__ short modlevel[7];
__device__ float use_dyn(int i)
{
    dyn[i] = i;
    __syncthreads();
    return dyn[i + 1];
}
__device__ int use_static(int i)
{
    __shared__ __align__(16) int s[6];
    __shared__ char c[5];
    s[threadIdx.x % 6] = i;
    c[threadIdx.x % 5] = i;
    modlevel[i] = s[0];
    __syncthreads();
    return s[i] + c[i] + modlevel[2];
}
__global__ void k4(double *p)
{
    dyn2[threadIdx.x] = p[0];
    __syncthreads();
    p[0] = dyn2[1] + use_static(0);
}
