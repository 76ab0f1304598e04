#include <cstdio>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>
__constant__ int cst[64]; __constant__ float cf[16];
__device__ __noinline__ int helper(int a, float b) { return a * 3 + (int)b; }
__device__ __noinline__ double quotient(double a, int b) { return a / b; }

extern "C" __global__ void k5(int *gi, float *gf, double *gd, int n, float x, cudaTextureObject_t to, cudaSurfaceObject_t so)
{
    __shared__ __align__(128) int s[256]; __shared__ float sf[128]; __shared__ double sd[64]; __shared__ unsigned long long mb; int a[16]; float fa[8]; for (int q = 0; q < 16; q++) a[q] = n; for (int q = 0; q < 8; q++) fa[q] = x; int i0 = threadIdx.x, i1 = n, i2 = gi[threadIdx.x], i3 = blockIdx.x * blockDim.x + threadIdx.x; unsigned u0 = i2, u1 = i3, u2 = n * 3; long long l0 = i2, l1 = n; float f0 = gf[threadIdx.x], f1 = x, f2 = i0; double d0 = f0, d1 = n; __half2 h0 = __float2half2_rn(f0), h1 = __float2half2_rn(x); __nv_bfloat162 b0 = __float2bfloat162_rn(x);
    if (i0 > i1) { l0 = l0 / (l1 | 1); for (int k707398 = 0; k707398 < n; k707398++) { l1 = (long long)d1; u1 += clock(); l1 = max(l0, l0); i2 += k707398; } for (int k677478 = 0; k677478 < i1; k677478++) { asm volatile("mbarrier.init.shared.b64 [%0], 32;" :: "r"((unsigned)__cvta_generic_to_shared(&mb))); i2 += k677478; } if (h0.x > h0.y || f2 < x) return; }
    if (i2 > i0) return;
    d0 = d1 / d0;
    asm volatile("pmevent 3;");
    u0 = blockIdx.z * blockDim.x;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(u0));
    if (h1.x > h1.y || f1 < x) { if (u0 & 4) { asm volatile("griddepcontrol.wait;"); } f1 = (float)d1; }
    for (int k527931 = 0; k527931 < 4; k527931++) { d1 = fma(d0, d0, d1); i2 += k527931; }
    gf[i3] = f0 + f1 + f2;
    gf[i0] = a[0] + fa[3];
}
