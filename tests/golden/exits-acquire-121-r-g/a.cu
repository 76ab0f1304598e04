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
    asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(l1) : "r"(i0), "r"(i0), "l"(l0));
    if (i2 > i2) { asm("bmsk.clamp.b32 %0, %1, %2;" : "=r"(u2) : "r"(u1), "r"(u0)); i1 = atomicAdd(gi + (i2 & 1023), i2); asm("szext.wrap.s32 %0, %1, %2;" : "=r"(i3) : "r"(i2), "r"(u0)); for (int k849581 = 0; k849581 < 4; k849581++) { l1 = l1 * l1 + i2; atomicAdd(gi, 1); f1 = __expf(f0); f2 = sqrtf(f1); i2 += k849581; } } else { i1 = atomicAdd(gi + (i0 & 1023), i0); }
    f1 = tanhf(f0);
    f2 = powf(f0, f1);
    if (i0 > n && f1 > 1.0f) { __threadfence_system(); asm("bmsk.clamp.b32 %0, %1, %2;" : "=r"(u2) : "r"(u2), "r"(u0)); if (n > 9) { f1 = __fmul_ru(f0, f0); } l0 = l1 / (l1 | 1); } else { asm("bmsk.clamp.b32 %0, %1, %2;" : "=r"(u1) : "r"(u0), "r"(u2)); asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(u1) : "l"(gi + (i2 & 1023))); if (blockIdx.x == 0 || i3 == 3) return; }
    for (int k511122 = 0; k511122 < n; k511122++) { l0 = (long long)f1; for (int k824704 = 0; k824704 < i1; k824704++) { f0 = tanhf(f2); f2 = sqrtf(f0); i2 += k824704; } i2 += k511122; }
    l0 = (long long)((__int128)l1 * l0 >> 64);
    l0 = __mul64hi(l1, l0);
    gi[i3 + 1] = u0 ^ u1 ^ u2;
    gi[i3] = i0 + i1 + i2 + i3;
    gf[i3] = f0 + f1 + f2;
    ((__half2 *)gi)[i3] = h0;
}
