#include <cstdio>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>
__constant__ int cst[64]; __constant__ float cf[16];
__device__ __noinline__ int helper(int a, float b) { return a * 3 + (int)b; }
__device__ __noinline__ double quotient(double a, int b) { return a / b; }

extern "C" __global__ void k3(int *gi, float *gf, double *gd, int n, float x, cudaTextureObject_t to, cudaSurfaceObject_t so)
{
    __shared__ __align__(128) int s[256]; __shared__ float sf[128]; __shared__ double sd[64]; __shared__ unsigned long long mb; int a[16]; float fa[8]; for (int q = 0; q < 16; q++) a[q] = n; for (int q = 0; q < 8; q++) fa[q] = x; int i0 = threadIdx.x, i1 = n, i2 = gi[threadIdx.x], i3 = blockIdx.x * blockDim.x + threadIdx.x; unsigned u0 = i2, u1 = i3, u2 = n * 3; long long l0 = i2, l1 = n; float f0 = gf[threadIdx.x], f1 = x, f2 = i0; double d0 = f0, d1 = n; __half2 h0 = __float2half2_rn(f0), h1 = __float2half2_rn(x); __nv_bfloat162 b0 = __float2bfloat162_rn(x);
    if (f2 < f2) { u0 = __match_any_sync(~0u, i3); asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(l1) : "r"(i3), "r"(i1), "l"(l0)); asm volatile("st.release.sys.u32 [%0], %1;" :: "l"(gi + (i2 & 1023)), "r"(u0)); }
    __syncwarp();
    asm("lop3.b32 %0, %1, %2, %3, 0x91;" : "=r"(u2) : "r"(u0), "r"(u0), "r"(u1));
    for (int k78704 = 0; k78704 < 4; k78704++) { if (threadIdx.x < 32) { asm volatile("prefetch.global.L2 [%0];" :: "l"(gi + (i1 & 1023))); d1 = __shfl_up_sync(~0u, d0, 1); l1 = __shfl_sync(~0u, l0, i3 & 31); } if (i2 > n && f2 > 1.0f) return; i2 += k78704; }
    i2 = __shfl_xor_sync(~0u, i0, 1);
    for (int k758810 = 0; k758810 < n; k758810++) { if (threadIdx.x < 32) return; asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(l0) : "r"(i0), "r"(i0), "l"(l0)); if (f0 < f0) return; i2 += k758810; }
    while (blockIdx.x == 0 || i1 == 3) { u1 = __activemask(); u1 = __activemask(); if (!n--) break; }
    asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(l0) : "r"(i1), "r"(i3), "l"(l0));
    while (i0 > n && f1 > 1.0f) { u2 = __match_any_sync(~0u, i0); if (__any_sync(~0u, i3 > 3)) i0++; for (int k706717 = 0; k706717 < n; k706717++) { if (i2 > n && f0 > 1.0f) return; asm("lop3.b32 %0, %1, %2, %3, 0x91;" : "=r"(u1) : "r"(u0), "r"(u1), "r"(u0)); asm("cvt.rni.sat.s8.f32 %0, %1;" : "=r"(i0) : "f"(f0)); asm volatile("st.release.sys.u32 [%0], %1;" :: "l"(gi + (i2 & 1023)), "r"(u0)); i2 += k706717; } if (!n--) break; }
    asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(l0) : "r"(i3), "r"(i3), "l"(l0));
    asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(u1) : "l"(gi + (i0 & 1023)));
    u0 = __match_any_sync(~0u, i2);
    l1 = __shfl_sync(~0u, l1, i2 & 31);
    d0 = __shfl_up_sync(~0u, d1, 1);
    gd[i3 + 9] = l0 + l1;
}
