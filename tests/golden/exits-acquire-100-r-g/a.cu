#include <cstdio>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>
__constant__ int cst[64]; __constant__ float cf[16];
__device__ __noinline__ int helper(int a, float b) { return a * 3 + (int)b; }
__device__ __noinline__ double quotient(double a, int b) { return a / b; }

extern "C" __global__ void k2(int *gi, float *gf, double *gd, int n, float x, cudaTextureObject_t to, cudaSurfaceObject_t so)
{
    __shared__ __align__(128) int s[256]; __shared__ float sf[128]; __shared__ double sd[64]; __shared__ unsigned long long mb; int a[16]; float fa[8]; for (int q = 0; q < 16; q++) a[q] = n; for (int q = 0; q < 8; q++) fa[q] = x; int i0 = threadIdx.x, i1 = n, i2 = gi[threadIdx.x], i3 = blockIdx.x * blockDim.x + threadIdx.x; unsigned u0 = i2, u1 = i3, u2 = n * 3; long long l0 = i2, l1 = n; float f0 = gf[threadIdx.x], f1 = x, f2 = i0; double d0 = f0, d1 = n; __half2 h0 = __float2half2_rn(f0), h1 = __float2half2_rn(x); __nv_bfloat162 b0 = __float2bfloat162_rn(x);
    if (i0 > n && f2 > 1.0f) return;
    if (i0 == 17) printf("%d %f\n", i1, f2);
    i3 += cst[i0 & 63];
    asm volatile("st.release.sys.u32 [%0], %1;" :: "l"(gi + (i1 & 1023)), "r"(u2));
    gd[i0 & 511] = d1;
    while (f1 < f0) { asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(u2) : "l"(gi + (i2 & 1023))); d1 = quotient(d1, i3); d0 = quotient(d0, i0); if (i2 > n && f1 > 1.0f) { asm("bfe.s32 %0, %1, %2, %3;" : "=r"(i2) : "r"(i0), "r"(i3), "r"(i2)); } else { asm("bfe.s32 %0, %1, %2, %3;" : "=r"(i2) : "r"(i3), "r"(i2), "r"(i3)); asm("bmsk.clamp.b32 %0, %1, %2;" : "=r"(u0) : "r"(u1), "r"(u1)); if (threadIdx.x < 32) return; } if (!n--) break; }
    asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(u1) : "l"(gi + (i0 & 1023)));
    asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(u1) : "l"(gi + (i1 & 1023)));
    if (threadIdx.x < 32) return;
    switch (i1 & 3) { case 0: i0 = helper(i3, f0); break; case 1: i2 = helper(i0, f0); case 2: f2 = gf[i1 & 1023]; break; default: if (i2 == 17) printf("%d %f\n", i1, f1); }
    ((__half2 *)gi)[i3] = h0;
    gf[i3] = f0 + f1 + f2;
    gi[i3 + 1] = u0 ^ u1 ^ u2;
    gi[i3] = i0 + i1 + i2 + i3;
}
