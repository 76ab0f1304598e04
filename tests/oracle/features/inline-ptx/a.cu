__device__ unsigned lane();
__device__ void sync_some(int n);
__global__ void k(unsigned *p)
{
    unsigned x;
    asm volatile("mov.u32 %0, %%ctaid.z;" : "=r"(x));
    p[0] = x + lane();
    sync_some(3);
    asm volatile("{ .reg .pred q; setp.eq.u32 q, %0, 3; @q trap; }" ::"r"(x));
    asm volatile("st.global.cg.u32 [%0], %1;" ::"l"(p), "r"(x) : "memory");
}
