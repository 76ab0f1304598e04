#define STEP(n, next, words)                                                                       \
    __device__ __noinline__ int n(int *p, int i)                                                   \
    {                                                                                              \
        int loc[words];                                                                            \
        for (int j = 0; j < words; j++)                                                            \
            loc[j] = p[j + i];                                                                     \
        loc[i % words] += 1;                                                                       \
        return next(loc, i) + loc[p[0] % words];                                                   \
    }
__device__ int c0(int *p, int i);
STEP(b2, c0, 20)
STEP(b1, b2, 3)
STEP(b0, b1, 9)
