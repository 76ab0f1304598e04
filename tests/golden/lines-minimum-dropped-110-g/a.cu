// The second minimum's row is dropped by the compiler, but not its advance.
extern "C" __global__ void drops(int *o)
{
    int v = o[threadIdx.x], w = o[threadIdx.x + 64], r;
    asm volatile("redux.sync.min.s32 %0, %1, -1;" : "=r"(r) : "r"(v) : "memory");
    o[threadIdx.x + 1] = r; o[threadIdx.x + 2] = min(v, w); o[threadIdx.x + 3] = max(w, r);
}
