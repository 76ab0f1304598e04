__device__ __forceinline__ int inlined(int a, int b)
{
    return min(a + b, 5);
}
__global__ void clamp(int *p, int n)
{
    int a = p[0], b = p[1];
    if (a == 5)
        return;
    int c = min(a + b, 17);
    p[threadIdx.x] = c;
    if (b == n)
        return;
    p[threadIdx.x + 40] = max(a + 7, b);
}
__global__ void fenced(int *p)
{
    int a = p[0], b = p[1];
    p[2] = a;
    __threadfence_block();
    if (a == 5)
        return;
    p[3] = inlined(a, b);
    __threadfence();
    p[4] = max(a + b, 3) + inlined(p[5], 2);
}
