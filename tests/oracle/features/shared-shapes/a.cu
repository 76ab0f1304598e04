extern __shared__ float dyn[];
__device__ float use_dyn(int i);
__device__ int use_static(int i);
__global__ void k1(float *p)
{
    __shared__ char a[3];
    __shared__ double d[2];
    __shared__ __align__(64) int big[10];
    a[threadIdx.x % 3] = p[0];
    d[threadIdx.x % 2] = p[1];
    big[threadIdx.x % 10] = 4;
    __syncthreads();
    p[0] = a[1] + d[0] + big[3] + dyn[threadIdx.x] + use_static(2);
}
__global__ void k2(float *p)
{
    p[0] = use_dyn(3) + use_static(1);
}
__global__ void k3(float *p)
{
    dyn[threadIdx.x] = p[0];
    __syncthreads();
    p[1] = dyn[3];
}
__global__ void none(float *p)
{
    p[0] = 1;
}
