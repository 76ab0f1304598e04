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
    if (i3 >= n) return;
    f1 = tex1Dfetch<float>(to, i3);
    a[i0 & 15] = i0;
    gf[i2 & 1023] = f1;
    { float4 v = ((float4 *)gf)[i1 & 255]; f2 = v.x + v.y; f2 = v.z * v.w; }
    if (blockIdx.x == 0 || i0 == 3) return;
    if (d0 > d0 && i0 < n) { i3 = __vimax3_s32_relu(i1, i0, i0); }
    f0 = tex1Dfetch<float>(to, i1);
    gd[i1 & 511] = d0;
    switch (i1 & 3) { case 0: i1 = __vimax3_s32_relu(i1, i1, i2); break; case 1: { float4 v = tex2Dgather<float4>(to, f1, f1, 1); f1 = v.y; } case 2: { float4 v = tex2Dgather<float4>(to, f0, f2, 1); f0 = v.y; } break; default: gi[i1 & 1023] = i0; }
    u1 = __viaddmin_s16x2(u1, u1, u2);
    surf2Dread(&i0, so, i0, i0);
    f1 = __ldg(gf + (i0 & 1023));
    { bool p, q; u0 = __vibmax_s16x2(u0, u2, &p, &q); if (p) i3 += q; }
    if (u0 & 4) return;
    ((__half2 *)gi)[i3] = h0;
}
