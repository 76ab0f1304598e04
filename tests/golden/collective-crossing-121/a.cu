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
    for (int k921288 = 0; k921288 < 4; k921288++) { a[i0 & 15] = i1; if (u0 & 4) { f0 = __ldg(gf + (i2 & 1023)); fa[i1 & 7] = f0; u0 = __match_any_sync(~0u, i1); __syncwarp(); } i2 += k921288; }
    gd[i1 & 511] = d0;
    if (f1 < f0) return;
    if (threadIdx.x < 32) { u2 = __match_any_sync(~0u, i2); fa[i3 & 7] = f1; while (blockIdx.x == 0 || i0 == 3) { d1 = __shfl_up_sync(~0u, d1, 1); l1 = __shfl_sync(~0u, l1, i0 & 31); i0 += cst[i0 & 63]; if (!n--) break; } } else { __syncwarp(); if (f1 < f1) { i2 += cst[i1 & 63]; f0 = fa[i1 & 7]; f1 = __ldg(gf + (i0 & 1023)); ((short *)gi)[i3 & 2047] = i0; } else { i2 = a[i0 & 15]; i1 = a[i0 & 15]; ((short *)gi)[i2 & 2047] = i2; } switch (i1 & 3) { case 0: f1 = fa[i2 & 7]; break; case 1: i3 += cst[i2 & 63]; case 2: i3 = gi[i0 & 1023]; break; default: i2 = __shfl_xor_sync(~0u, i1, 1); } if (__any_sync(~0u, i1 > 3)) i2++; }
    l0 = __shfl_sync(~0u, l1, i3 & 31);
    u2 = __match_any_sync(~0u, i3);
    gd[i1 & 511] = d0;
    f2 = fa[i2 & 7];
    gd[i2 & 511] = d1;
    __syncwarp();
    gi[i3 + 1] = u0 ^ u1 ^ u2;
}
