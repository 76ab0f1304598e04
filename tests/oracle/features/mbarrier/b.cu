__device__ void wait_on(unsigned long long *b)
{
    __shared__ unsigned long long own;
    unsigned a = __cvta_generic_to_shared(b), o = __cvta_generic_to_shared(&own);
    unsigned long long t;
    asm volatile("mbarrier.init.shared.b64 [%0], 5;" ::"r"(o));
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(t) : "r"(a));
    asm volatile("{ .reg .pred q; W: mbarrier.test_wait.shared.b64 q, [%0], %1; @!q bra W; }" ::"r"(a),
                 "l"(t));
}
__global__ void k2(int *p)
{
    __shared__ unsigned long long m;
    wait_on(&m);
}
