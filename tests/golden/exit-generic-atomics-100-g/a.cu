// Atomic operations on generic addresses say by a predicate whether they could be done there.
extern "C" __global__ void exchanges(unsigned long long *p, int n)
{
    unsigned long long *q;
    asm volatile("mov.u64 %0, %1;" : "=l"(q) : "l"(p));
    atomicExch(q + threadIdx.x, n);
}

extern "C" __global__ void compares(unsigned long long *p, unsigned long long *o)
{
    unsigned long long *q;
    asm volatile("mov.u64 %0, %1;" : "=l"(q) : "l"(p));
    atomicCAS(q + threadIdx.x, 5ull, o[3]);
}

extern "C" __global__ void greatest(unsigned long long *p, unsigned long long *o)
{
    unsigned long long *q;
    asm volatile("mov.u64 %0, %1;" : "=l"(q) : "l"(p));
    atomicMax(q + threadIdx.x, o[3]);
}
