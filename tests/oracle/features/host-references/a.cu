// With what only code refers to, what only the host refers to, both, and neither.
extern __device__ int both;
__device__ int code_only = 4;
__device__ int host_only[4];
__device__ int neither[3] = {1, 2, 3};
__constant__ int const_both[3] = {1, 2, 3};
__constant__ int const_neither[3];
static __device__ int static_both = 5;
static __constant__ int static_const = 6;
__device__ int helper(int);

__global__ void launched(int *p)
{
    *p = helper(*p) + both + code_only + const_both[1];
}

static __global__ void launched_static(int *p)
{
    *p = static_both + static_const;
}

__global__ void never(int *p)
{
    *p = helper(*p + static_const) + const_neither[*p];
}

int main()
{
    int x = 0;
    launched<<<1, 1>>>(0);
    launched_static<<<1, 1>>>(0);
    cudaMemcpyToSymbol(host_only, &x, sizeof x);
    cudaMemcpyToSymbol(const_both, &x, sizeof x);
    cudaMemcpyToSymbol(static_both, &x, sizeof x);
    return 0;
}
