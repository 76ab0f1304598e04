__device__ void bulk(void *dst, const void *src, unsigned long long *bar);
struct alignas(64) Map {
    char c[128];
};
__global__ void k(const float *g, float *out)
{
    __shared__ __align__(128) float buf[256];
    __shared__ unsigned long long bar;
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"((unsigned)__cvta_generic_to_shared(&bar)));
    asm volatile("fence.proxy.async;");
    bulk(buf, g, &bar);
    out[threadIdx.x] = buf[threadIdx.x];
}
__global__ void tensor(const __grid_constant__ Map map, float *out)
{
    __shared__ __align__(128) float buf[64];
    __shared__ unsigned long long bar;
    asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2}], [%3];" ::"r"((unsigned)__cvta_generic_to_shared(buf)),
                 "l"(&map), "r"(3), "r"((unsigned)__cvta_generic_to_shared(&bar)));
    out[0] = buf[0];
}
