#define STEP(n, next, words)                                                                       \
    __device__ __noinline__ int n(int *p, int i)                                                   \
    {                                                                                              \
        int loc[words];                                                                            \
        for (int j = 0; j < words; j++)                                                            \
            loc[j] = p[j + i];                                                                     \
        loc[i % words] += 1;                                                                       \
        return next(loc, i) + loc[p[0] % words];                                                   \
    }
__device__ int b0(int *p, int i);
STEP(a3, b0, 7)
STEP(a2, a3, 12)
STEP(a1, a2, 33)
STEP(a0, a1, 4)
__global__ void k(int *p)
{
    p[0] = a0(p, p[1]);
}
__global__ void kmid(int *p)
{
    p[0] = a2(p, p[1]);
}
