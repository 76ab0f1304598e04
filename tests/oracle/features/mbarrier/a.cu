__device__ void wait_on(unsigned long long *b);
__global__ void k(int *p)
{
    __shared__ unsigned long long b1, b2;
    unsigned a1 = __cvta_generic_to_shared(&b1), a2 = __cvta_generic_to_shared(&b2);
    asm volatile("mbarrier.init.shared.b64 [%0], 32;" ::"r"(a1));
    asm volatile("mbarrier.init.shared.b64 [%0], 64;" ::"r"(a2));
    wait_on(&b1);
    asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(a2));
    *p = 1;
}
