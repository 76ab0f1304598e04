__device__ int both = 7;
__device__ int elsewhere;
__global__ void far(int *p);

__device__ int helper(int x)
{
    return x * 3 + 1;
}

__global__ void unused(int *p)
{
    *p = helper(*p);
}

int more()
{
    int x = 0;
    far<<<1, 1>>>(0);
    cudaMemcpyToSymbol(elsewhere, &x, sizeof x);
    return 0;
}
