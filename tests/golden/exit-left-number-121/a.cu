#include <cstdio>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>
__constant__ int cst[64]; __constant__ float cf[16];
__device__ __noinline__ int helper(int a, float b) { return a * 3 + (int)b; }
__device__ __noinline__ double quotient(double a, int b) { return a / b; }

extern "C" __global__ void k0(int *gi, float *gf, double *gd, int n, float x, cudaTextureObject_t to, cudaSurfaceObject_t so)
{
    __shared__ __align__(128) int s[256]; __shared__ float sf[128]; __shared__ double sd[64]; __shared__ unsigned long long mb; int a[16]; float fa[8]; for (int q = 0; q < 16; q++) a[q] = n; for (int q = 0; q < 8; q++) fa[q] = x; int i0 = threadIdx.x, i1 = n, i2 = gi[threadIdx.x], i3 = blockIdx.x * blockDim.x + threadIdx.x; unsigned u0 = i2, u1 = i3, u2 = n * 3; long long l0 = i2, l1 = n; float f0 = gf[threadIdx.x], f1 = x, f2 = i0; double d0 = f0, d1 = n; __half2 h0 = __float2half2_rn(f0), h1 = __float2half2_rn(x); __nv_bfloat162 b0 = __float2bfloat162_rn(x);
    atomicAdd(gd + (i2 & 511), d1);
    if (i3 > i2) return;
    switch (i1 & 3) { case 0: fa[i2 & 7] = f1; break; case 1: i2 += cst[i2 & 63]; case 2: asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(u1) : "l"(gi + (i1 & 1023))); break; default: i0 = a[i3 & 15]; }
    atomicAdd(gi + (i3 & 1023), i3);
    for (int k474098 = 0; k474098 < n; k474098++) { atomicAdd(gi + 2, i0); asm("lop3.b32 %0, %1, %2, %3, 0x91;" : "=r"(u2) : "r"(u0), "r"(u2), "r"(u0)); i2 += k474098; }
    switch (i1 & 3) { case 0: f0 = atomicAdd(gf + (i3 & 1023), f0); break; case 1: asm("bfe.s32 %0, %1, %2, %3;" : "=r"(i0) : "r"(i0), "r"(i3), "r"(i0)); case 2: __threadfence_system(); break; default: f0 = gf[i0 & 1023]; }
    gf[i1 & 1023] = f2;
    asm("cvt.rni.sat.s8.f32 %0, %1;" : "=r"(i1) : "f"(f2));
    if (f2 < f0) { f2 = gf[i2 & 1023]; atomicAdd(gi + 1, i3); }
    __threadfence();
    asm("cvt.rni.sat.s8.f32 %0, %1;" : "=r"(i2) : "f"(f0));
    atomicAdd(gf, 1.0f);
    gf[i3] = f0 + f1 + f2;
}
