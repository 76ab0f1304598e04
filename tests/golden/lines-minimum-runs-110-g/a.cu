// A minimum behind runs of the capsule: an acquiring load, an acquire fence, an address in another block's memory.
#define KERNEL(name, ptx)                                                                      \
    extern "C" __global__ void name(int *o, unsigned long long x, int n)                       \
    {                                                                                          \
        int v = o[threadIdx.x], w = o[threadIdx.x + 64], r;                                    \
        unsigned long long d = x;                                                              \
        if (v == n)                                                                            \
            return;                                                                            \
        asm volatile(ptx : "=r"(r), "+l"(d) : "r"(v), "l"(o) : "memory");                      \
        o[threadIdx.x + 1] = r + (int)d;                                                       \
        o[threadIdx.x + 2] = min(v, w);                                                        \
        o[threadIdx.x + 3] = max(w, r);                                                        \
    }

KERNEL(load, "ld.acquire.cluster.global.s32 %0, [%3];")
KERNEL(fence, "fence.acquire.gpu; mov.u32 %0, %2;")
KERNEL(other, "mapa.u64 %1, %1, %2; mov.u32 %0, %2;")
KERNEL(prefetch, "prefetch.global.L2 [%3]; mov.u32 %0, %2;")
