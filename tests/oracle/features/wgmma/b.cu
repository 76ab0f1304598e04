__device__ void mul(float *d, unsigned long long a, unsigned long long b)
{
    float c0 = 0, c1 = 0, c2 = 0, c3 = 0;
    asm volatile("wgmma.fence.sync.aligned;");
    asm volatile("{ wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, %4, %5, 1, 1, 1, "
                 "0, 0; }"
                 : "+f"(c0), "+f"(c1), "+f"(c2), "+f"(c3)
                 : "l"(a), "l"(b));
    asm volatile("wgmma.commit_group.sync.aligned;");
    asm volatile("wgmma.wait_group.sync.aligned 0;");
    d[threadIdx.x] = c0 + c1 + c2 + c3;
}
