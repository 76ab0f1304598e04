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
    b0 = __hfma2(b0, b0, __float22bfloat162_rn(make_float2(f1, f2)));
    u2 = __reduce_or_sync(__activemask(), u2);
    if (threadIdx.x < 32) { for (int k286021 = 0; k286021 < n; k286021++) { i2 = __clzll(l0); if (i3 > n && f1 > 1.0f) return; i2 += k286021; } b0 = __hfma2(b0, b0, __float22bfloat162_rn(make_float2(f2, f0))); u0 = __reduce_or_sync(__activemask(), u2); i2 = __reduce_add_sync(~0u, i2); } else { for (int k157793 = 0; k157793 < i1; k157793++) { f1 = (float)l1; l0 = l0 * l1 + i0; b0 = __hfma2(b0, b0, __float22bfloat162_rn(make_float2(f2, f2))); i2 += k157793; } if (u0 & 4) { u1 = __reduce_or_sync(__activemask(), u1); i0 = __reduce_add_sync(~0u, i1); } else { b0 = __hfma2(b0, b0, __float22bfloat162_rn(make_float2(f1, f2))); l0 = l0 / (l0 | 1); u0 = __reduce_or_sync(__activemask(), u2); } }
    u0 = __reduce_or_sync(__activemask(), u1);
    l1 = __mul64hi(l1, l0);
    if (l0 != l1) { b0 = __hfma2(b0, b0, __float22bfloat162_rn(make_float2(f1, f2))); l0 = max(l0, l1); i2 = __clzll(l1); }
    gf[i3] = f0 + f1 + f2;
}
