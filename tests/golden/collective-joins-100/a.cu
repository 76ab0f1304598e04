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
    ((int4 *)gi)[i1 & 255] = make_int4(i1, i1, i2, i0);
    s[i1 & 255] = i0;
    f1 = sf[i3 & 127];
    b0 = __hfma2(b0, b0, __float22bfloat162_rn(make_float2(f2, f0)));
    switch (i1 & 3) { case 0: l0 = max(l0, l0); break; case 1: { float4 v = ((float4 *)gf)[i1 & 255]; f0 = v.x + v.y; f0 = v.z * v.w; } case 2: __syncthreads(); break; default: i2 = s[i0 & 255]; }
    a[i1 & 15] = i1;
    d1 = sd[i1 & 63];
    fa[i1 & 7] = f2;
    if (threadIdx.x < 32) { l1 = __mul64hi(l0, l0); for (int k58821 = 0; k58821 < n; k58821++) { i1 = __clzll(l0); l0 = l0 / (l1 | 1); i3 = __reduce_add_sync(~0u, i3); gd[i3 & 511] = d1; i2 += k58821; } i2 = __reduce_add_sync(~0u, i2); if (d1 > d1 && i1 < n) { i3 = __reduce_add_sync(~0u, i0); l0 = max(l0, l1); f2 = gf[i3 & 1023]; } }
    gi[i3 + 1] = u0 ^ u1 ^ u2;
    gf[i0] = a[0] + fa[3];
    gf[i3] = f0 + f1 + f2;
}
