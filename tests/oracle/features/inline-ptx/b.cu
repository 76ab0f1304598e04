__device__ unsigned lane()
{
    unsigned x, z;
    asm("mov.u32 %0, %%laneid;" : "=r"(x));
    asm volatile("mov.u32 %0, %%ctaid.z;" : "=r"(z));
    return x + z;
}
__device__ void sync_some(int n)
{
    asm volatile("bar.sync %0, 64;" ::"r"(n));
    asm volatile("barrier.sync 7;");
    unsigned long long t;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
    if (t == 1)
        asm volatile("exit;");
}
__global__ void k2(unsigned *p)
{
    p[0] = lane();
}
