__device__ float load_tile(const float4 *g)
{
    __shared__ __align__(16) float t[8];
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(
                     (unsigned)__cvta_generic_to_shared(t)), "l"(g));
    asm volatile("cp.async.wait_all;");
    __syncthreads();
    return t[3];
}
