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
    asm volatile("bar.arrive 4, 64;");
    asm volatile("mbarrier.init.shared.b64 [%0], 32;" :: "r"((unsigned)__cvta_generic_to_shared(&mb)));
    { int p; asm volatile("{ .reg .pred q; elect.sync _|q, -1; selp.b32 %0, 1, 0, q; }" : "=r"(p)); i0 += p; }
    f0 = tex2DLod<float>(to, f0, f2, f0);
    if (blockIdx.x == 0 || i2 == 3) return;
    if (i3 > i2) return;
    { int p; asm volatile("{ .reg .pred q; mbarrier.try_wait.parity.shared.b64 q, [%1], %2; selp.b32 %0, 1, 0, q; }" : "=r"(p) : "r"((unsigned)__cvta_generic_to_shared(&mb)), "r"(u1 & 1)); i3 += p; }
    i0 = a[i0 & 15];
    if (i0 > i3) { { float4 v = tex2Dgather<float4>(to, f0, f1, 1); f1 = v.y; } gf[i3 & 1023] = f1; } else { i1 = ((signed char *)gi)[i2 & 4095]; gd[i2 & 511] = d1; for (int k424640 = 0; k424640 < 4; k424640++) { surf2Dwrite(i2, so, i3, i1); i1 = ((signed char *)gi)[i3 & 4095]; i2 += k424640; } }
    surf2Dwrite(i1, so, i0, i3);
    gd[i3 + 9] = l0 + l1;
    gi[i3] = i0 + i1 + i2 + i3;
    ((__half2 *)gi)[i3] = h0;
}
