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
    asm volatile("fence.proxy.async;");
    if (i0 > i0) return;
    ((short *)gi)[i3 & 2047] = i0;
    if (u0 & 4) { __nanosleep(u0); i3 = __dp2a_lo(i3, i0, i1); ((short *)gi)[i2 & 2047] = i2; }
    asm volatile("cp.async.wait_all;");
    for (int k999447 = 0; k999447 < i1; k999447++) { if (d0 > d1 && i2 < n) { i3 = __reduce_add_sync(~0u, i1); b0 = __hfma2(b0, b0, __float22bfloat162_rn(make_float2(f0, f0))); i3 = i0 / 7; asm volatile("cp.async.commit_group;"); } asm volatile("griddepcontrol.wait;"); i2 += k999447; }
    u1 = __reduce_or_sync(__activemask(), u0);
    asm volatile("bar.sync 2, 64;");
    asm volatile("barrier.cluster.arrive;");
    if (u1 & 4) return;
    gd[i3 & 511] = d1;
    { int p; asm volatile("{ .reg .pred q; mbarrier.try_wait.parity.shared.b64 q, [%1], %2; selp.b32 %0, 1, 0, q; }" : "=r"(p) : "r"((unsigned)__cvta_generic_to_shared(&mb)), "r"(u2 & 1)); i2 += p; }
    for (int k452715 = 0; k452715 < n; k452715++) { for (int k262306 = 0; k262306 < 4; k262306++) { ((int4 *)gi)[i1 & 255] = make_int4(i1, i1, i3, i2); b0 = __hfma2(b0, b0, __float22bfloat162_rn(make_float2(f0, f0))); i2 += k262306; } gd[i0 & 511] = d0; u0 = __reduce_or_sync(__activemask(), u2); if (threadIdx.x < 32) { i1 = __reduce_add_sync(~0u, i2); i1 = i2 / (i0 | 1); asm volatile("griddepcontrol.wait;"); } else { f2 = gf[i2 & 1023]; } i2 += k452715; }
    asm volatile("griddepcontrol.wait;");
    gf[i0] = a[0] + fa[3];
    gd[i3] = d0 + d1;
    ((__half2 *)gi)[i3] = h0;
    gi[i3 + 1] = u0 ^ u1 ^ u2;
    gf[i3] = f0 + f1 + f2;
}
