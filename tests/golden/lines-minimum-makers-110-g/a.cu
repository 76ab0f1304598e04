// A minimum behind what the finalizer makes anew, and does not: one kernel for each.
#define KERNEL(name, ptx)                                                                      \
    extern "C" __global__ void name(int *o, int n)                                             \
    {                                                                                          \
        int v = o[threadIdx.x], w = o[threadIdx.x + 64], r;                                    \
        if (v == n)                                                                            \
            return;                                                                            \
        asm volatile(ptx : "=r"(r) : "r"(v), "r"(w) : "memory");                               \
        o[threadIdx.x + 1] = r;                                                                \
        o[threadIdx.x + 2] = min(v, w);                                                        \
        o[threadIdx.x + 3] = max(w, r);                                                        \
    }

KERNEL(number, "barrier.sync %1; mov.u32 %0, %1;")
KERNEL(number_and_count, "barrier.sync %1, %2; mov.u32 %0, %1;")
KERNEL(count, "barrier.sync 3, %1; mov.u32 %0, %1;")
KERNEL(arrival, "barrier.arrive 3, 64; mov.u32 %0, %1;")
KERNEL(bits, "redux.sync.or.b32 %0, %1, -1;")
KERNEL(smallest, "redux.sync.min.s32 %0, %1, -1;")
KERNEL(sum, "redux.sync.add.s32 %0, %1, -1;")
KERNEL(copies, "cp.async.commit_group; cp.async.wait_group 1; mov.u32 %0, %1;")
KERNEL(grid, "griddepcontrol.wait; mov.u32 %0, %1;")
