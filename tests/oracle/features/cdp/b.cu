__global__ void child(int *p)
{
    p[threadIdx.x] = 1;
}
__global__ void grand(int *p)
{
    p[0] = 2;
}
__device__ void spawn(int *p)
{
    grand<<<2, 64>>>(p);
}
