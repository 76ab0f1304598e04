__device__ void bulk(void *dst, const void *src, unsigned long long *bar)
{
    unsigned d = __cvta_generic_to_shared(dst), b = __cvta_generic_to_shared(bar);
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 1024;" ::"r"(b));
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 1024, "
                 "[%2];" ::"r"(d), "l"(src), "r"(b));
    asm volatile("{ .reg .pred q; W: mbarrier.try_wait.parity.shared.b64 q, [%0], 0; @!q bra W; }" ::"r"(
        b));
}
