#include <cstdio>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>
__constant__ int cst[64]; __constant__ float cf[16];
__device__ __noinline__ int helper(int a, float b) { return a * 3 + (int)b; }
__device__ __noinline__ double quotient(double a, int b) { return a / b; }

extern "C" __global__ void k4(int *gi, float *gf, double *gd, int n, float x, cudaTextureObject_t to, cudaSurfaceObject_t so)
{
    __shared__ __align__(128) int s[256]; __shared__ float sf[128]; __shared__ double sd[64]; __shared__ unsigned long long mb; int a[16]; float fa[8]; for (int q = 0; q < 16; q++) a[q] = n; for (int q = 0; q < 8; q++) fa[q] = x; int i0 = threadIdx.x, i1 = n, i2 = gi[threadIdx.x], i3 = blockIdx.x * blockDim.x + threadIdx.x; unsigned u0 = i2, u1 = i3, u2 = n * 3; long long l0 = i2, l1 = n; float f0 = gf[threadIdx.x], f1 = x, f2 = i0; double d0 = f0, d1 = n; __half2 h0 = __float2half2_rn(f0), h1 = __float2half2_rn(x); __nv_bfloat162 b0 = __float2bfloat162_rn(x);
    asm volatile("griddepcontrol.wait;");
    switch (i1 & 3) { case 0: asm("cvt.rni.sat.s8.f32 %0, %1;" : "=r"(i2) : "f"(f0)); break; case 1: asm volatile("fence.proxy.async;"); case 2: asm volatile("fence.proxy.async;"); break; default: asm("bmsk.clamp.b32 %0, %1, %2;" : "=r"(u2) : "r"(u2), "r"(u1)); }
    if (d1 > d1 && i3 < n) { if (i1 > n && f2 > 1.0f) return; } else { if (u1 & 4) { asm volatile("cp.async.wait_all;"); i1 = __popc(u0); asm volatile("barrier.sync %0;" :: "r"(u1 & 7)); } else { asm volatile("bar.arrive 4, 64;"); } asm("lop3.b32 %0, %1, %2, %3, 0x91;" : "=r"(u1) : "r"(u0), "r"(u1), "r"(u2)); i1 = __popc(u2); }
    asm volatile("cp.async.wait_all;");
    if (i1 > n && f0 > 1.0f) { u1 = __brev(u0); asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" :: "r"((unsigned)__cvta_generic_to_shared(&s[(i2 & 31) * 4])), "l"(gi + (i0 & 63) * 4)); { unsigned long long t; asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(t) : "r"((unsigned)__cvta_generic_to_shared(&mb))); l0 = t; } asm volatile("prefetch.global.L2 [%0];" :: "l"(gi + (i2 & 1023))); }
    asm volatile("prefetch.global.L2 [%0];" :: "l"(gi + (i1 & 1023)));
    { int p; asm volatile("{ .reg .pred q; elect.sync _|q, -1; selp.b32 %0, 1, 0, q; }" : "=r"(p)); i1 += p; }
    asm volatile("barrier.sync %0;" :: "r"(u0 & 7));
    asm("bfe.s32 %0, %1, %2, %3;" : "=r"(i0) : "r"(i0), "r"(i1), "r"(i3));
    if (d0 > d1 && i1 < n) { asm volatile("cp.async.wait_group 2;"); u1 = __match_any_sync(~0u, i1); i3 = i1 * i2 + i0; asm volatile("griddepcontrol.wait;"); }
    asm("bfe.s32 %0, %1, %2, %3;" : "=r"(i2) : "r"(i1), "r"(i2), "r"(i2));
    l0 = __shfl_sync(~0u, l1, i2 & 31);
    u2 = __fns(u2, u1 & 31, 2);
    if (threadIdx.x < 32) return;
    gi[i3] = i0 + i1 + i2 + i3;
    ((__half2 *)gi)[i3] = h0;
}
