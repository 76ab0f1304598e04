__device__ int used(int x);
__device__ int never1(int x);
__device__ int unused_var[10] = {1, 2, 3};
__constant__ int unused_const = 8;
__device__ int dead_caller(int x)
{
    return never1(x) + used(x);
}
__global__ void k(int *p)
{
    p[0] = used(p[1]);
}
__global__ void other(int *p)
{
    p[0] = 5;
}
