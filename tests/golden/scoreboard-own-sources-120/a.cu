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
    if (i3 >= n) return;
    if (i1 > i0) { for (int k202668 = 0; k202668 < n; k202668++) { i2 = __popc(u2); f1 = __ldg(gf + (i2 & 1023)); i2 += k202668; } if (l0 != l1) return; }
    asm volatile("barrier.sync %0;" :: "r"(u2 & 7));
    { unsigned long long t; asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(t) : "r"((unsigned)__cvta_generic_to_shared(&mb))); l0 = t; }
    i1 = gi[i1 & 1023];
    i1 = i1 % (i3 | 1);
    if (h1.x > h0.y || f1 < x) { asm volatile("barrier.sync %0;" :: "r"(u0 & 7)); { int p; asm volatile("{ .reg .pred q; mbarrier.try_wait.parity.shared.b64 q, [%1], %2; selp.b32 %0, 1, 0, q; }" : "=r"(p) : "r"((unsigned)__cvta_generic_to_shared(&mb)), "r"(u1 & 1)); i1 += p; } if (h0.x > h1.y || f2 < x) return; i3 = ((signed char *)gi)[i2 & 4095]; }
    ((int4 *)gi)[i1 & 255] = make_int4(i1, i3, i3, i2);
    for (int k158484 = 0; k158484 < 4; k158484++) { asm("lop3.b32 %0, %1, %2, %3, 0x91;" : "=r"(u0) : "r"(u2), "r"(u0), "r"(u2)); i1 = ((signed char *)gi)[i3 & 4095]; i2 += k158484; }
    u0 = __vabsdiffu4(u2, u1);
    asm volatile("prefetch.global.L2 [%0];" :: "l"(gi + (i3 & 1023)));
    if (n > 9) { while (h0.x > h0.y || f0 < x) { { unsigned long long t; asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(t) : "r"((unsigned)__cvta_generic_to_shared(&mb))); l1 = t; } if (!n--) break; } if (d0 > d0 && i0 < n) { asm volatile("barrier.cluster.wait;"); asm volatile("bar.arrive 4, 64;"); asm volatile("prefetch.global.L2 [%0];" :: "l"(gi + (i2 & 1023))); if (threadIdx.x < 32) return; } else { asm volatile("cp.async.wait_all;"); gd[i1 & 511] = d1; } i3 = __popc(u2); }
    i2 = min(i2, i3);
    for (int k940249 = 0; k940249 < 4; k940249++) { asm volatile("cp.async.wait_group 1;"); i2 += k940249; }
    for (int k551238 = 0; k551238 < n; k551238++) { { float4 v = ((float4 *)gf)[i2 & 255]; f0 = v.x + v.y; f2 = v.z * v.w; } i2 += k551238; }
    gf[i3] = f0 + f1 + f2;
}
