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
    if (i3 >= n) return;
    switch (i1 & 3) { case 0: f0 = fa[i0 & 7]; break; case 1: d0 = floor(d1); case 2: b0 = __hfma2(b0, b0, __float22bfloat162_rn(make_float2(f1, f0))); break; default: l0 = __shfl_sync(~0u, l1, i2 & 31); }
    for (int k720189 = 0; k720189 < n; k720189++) { i0 += cst[i1 & 63]; i2 += k720189; }
    h0 = h2sqrt(h1);
    l0 = l0 / (l0 | 1);
    l1 = __mul64hi(l1, l1);
    while (h1.x > h0.y || f2 < x) { if (n > 9) return; if (!n--) break; }
    l1 = __mul64hi(l0, l1);
    i0 = __reduce_add_sync(~0u, i1);
    h1 = h2exp(h0);
    h0 = __hmax2(h1, h1);
    l1 = (long long)d1;
    h1 = __hadd2(h0, h1);
    d0 = i3;
    ((__half2 *)gi)[i3] = h0;
}
