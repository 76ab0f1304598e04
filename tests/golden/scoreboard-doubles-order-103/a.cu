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
    asm("cvt.rni.sat.s8.f32 %0, %1;" : "=r"(i1) : "f"(f2));
    asm("bfe.s32 %0, %1, %2, %3;" : "=r"(i1) : "r"(i0), "r"(i2), "r"(i1));
    d1 = sqrt(d1);
    gi[i0 & 1023] = i0;
    asm volatile("pmevent 3;");
    d0 = gd[i2 & 511];
    if (l0 != l0) return;
    asm volatile("pmevent 3;");
    d0 = fma(d1, d1, d1);
    d0 = exp(d1);
    f1 = sqrtf(f0);
    i2 += cst[i3 & 63];
    asm("szext.wrap.s32 %0, %1, %2;" : "=r"(i2) : "r"(i2), "r"(u2));
    i2 += cst[i0 & 63];
    gd[i3 + 9] = l0 + l1;
    gd[i3] = d0 + d1;
}
