/* Atomic operations of which only the effect counts: they have a scoreboard, but no result that anybody waits for. */
__device__ unsigned total;
__device__ float sum;

__device__ unsigned all(unsigned x)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_add_sync(~0u, x);
#else
    return x;
#endif
}

#define KERNEL(NAME, ...)                                                                          \
    __global__ void NAME(unsigned *p, float *q, unsigned n, unsigned m, float f)                   \
    {                                                                                              \
        unsigned a = threadIdx.x, b = blockIdx.x, s = a * n, t = b + m;                            \
        __VA_ARGS__                                                                                \
        p[a] = s + t + b;                                                                          \
        q[b] = f;                                                                                  \
    }

/* their numbers are taken again in the same block */
KERNEL(taken_again, atomicAdd(&total, 1u); if (a > n) atomicAdd(&total, 7u);)
KERNEL(min_again, atomicAdd(&sum, 1.0f); if (b > n) atomicMin(&total, n); s += __popc(__ballot_sync(~0u, s > n));)
KERNEL(any_again, atomicAdd(p, 1); if (__any_sync(~0u, a == 3)) q[a & 7] = f;)
KERNEL(conversions, f = __fdividef(f, (float)(n + s)); atomicAdd(&sum, 1.0f);
       f = f * __int2float_rn(a) + __uint2float_rz(n); if (s > n) atomicMin(&total, n);
       s += __popc(__ballot_sync(~0u, b > n));)

/* their sources have been read at the end of the block */
KERNEL(sources_read, atomicAdd(&total, 1u); if (b > n) atomicMax(&total, 7u);)
KERNEL(not_like_results, atomicAdd(p + 1, 2); t ^= __ffs(__ballot_sync(~0u, t < n)) + __clz(n);
       f = f * __int2float_rn(a) + __uint2float_rz(n); atomicAdd(&total, b); atomicAdd(&total, a);
       if (s > n) atomicAdd(&total, 1u);)
KERNEL(several, atomicAdd(&sum, 1.0f); s += __popc(__ballot_sync(~0u, t > n)); atomicAdd(&sum, 1.0f);
       atomicAdd(&sum, 1.0f); if (s > n) atomicAnd(&total, 1u); b = all(t) + n;)

/* numbers that they hold in earlier blocks are shared at no price */
KERNEL(shared_later, atomicAdd(&sum, 1.0f); atomicAdd(p, 3); if (__any_sync(~0u, a == 3)) q[a & 7] = f; b = all(s) + n;
       f = f * __int2float_rn(b) + __uint2float_rz(n);)
KERNEL(ballots, s += __popc(__ballot_sync(~0u, b > n)); atomicAdd(&total, 1u); if (b > n) atomicAdd(&total, 7u);
       s += __popc(__ballot_sync(~0u, t > n));)
KERNEL(matches, if (b > n) atomicMax(&total, 1u); f = f * __int2float_rn(a) + __uint2float_rz(n);
       atomicAdd(&total, 2u); t += __match_any_sync(~0u, a) * n;)
