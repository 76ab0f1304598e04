struct Big {
    int v[2000];
};
struct Mid {
    char c[4000];
};
__device__ int pick(const int *v, int i);
__global__ void k(__grid_constant__ const Big b, int *out, int i)
{
    out[0] = pick(b.v, i);
}
__global__ void m(Mid x, int *out)
{
    out[0] = x.c[threadIdx.x];
}
