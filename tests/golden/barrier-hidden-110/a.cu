#include <cstdio>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>
__constant__ int cst[64]; __constant__ float cf[16];
__device__ __noinline__ int helper(int a, float b) { return a * 3 + (int)b; }
__device__ __noinline__ double quotient(double a, int b) { return a / b; }

extern "C" __global__ void k1(int *gi, float *gf, double *gd, int n, float x, cudaTextureObject_t to, cudaSurfaceObject_t so)
{
    __shared__ __align__(128) int s[256]; __shared__ float sf[128]; __shared__ double sd[64]; __shared__ unsigned long long mb; int a[16]; float fa[8]; for (int q = 0; q < 16; q++) a[q] = n; for (int q = 0; q < 8; q++) fa[q] = x; int i0 = threadIdx.x, i1 = n, i2 = gi[threadIdx.x], i3 = blockIdx.x * blockDim.x + threadIdx.x; unsigned u0 = i2, u1 = i3, u2 = n * 3; long long l0 = i2, l1 = n; float f0 = gf[threadIdx.x], f1 = x, f2 = i0; double d0 = f0, d1 = n; __half2 h0 = __float2half2_rn(f0), h1 = __float2half2_rn(x); __nv_bfloat162 b0 = __float2bfloat162_rn(x);
    for (int k484379 = 0; k484379 < 4; k484379++) { asm volatile("mbarrier.init.shared.b64 [%0], 32;" :: "r"((unsigned)__cvta_generic_to_shared(&mb))); sf[i0 & 127] = f1; i2 += k484379; }
    if (i0 > n && f1 > 1.0f) { asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" :: "r"((unsigned)__cvta_generic_to_shared(&s[(i0 & 31) * 4])), "l"(gi + (i2 & 63) * 4)); asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 64, [%2];" :: "r"((unsigned)__cvta_generic_to_shared(s)), "l"(gi), "r"((unsigned)__cvta_generic_to_shared(&mb)) : "memory"); if (i2 > n && f0 > 1.0f) { asm volatile("cp.async.wait_group 1;"); } } else { { int p; asm volatile("{ .reg .pred q; mbarrier.try_wait.parity.shared.b64 q, [%1], %2; selp.b32 %0, 1, 0, q; }" : "=r"(p) : "r"((unsigned)__cvta_generic_to_shared(&mb)), "r"(u2 & 1)); i3 += p; } asm volatile("cp.async.wait_all;"); }
    switch (i1 & 3) { case 0: asm volatile("bar.sync 1, 64;"); break; case 1: surf2Dwrite(i0, so, i0, i1); case 2: sf[i3 & 127] = f1; break; default: asm volatile("griddepcontrol.wait;"); }
    asm volatile("fence.proxy.async;");
    atomicAdd(&s[i1 & 255], i0);
    if (f0 < f0) return;
    asm volatile("cp.async.bulk.commit_group;");
    gf[i0] = a[0] + fa[3];
}
