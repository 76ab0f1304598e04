#include <cstdio>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>
__constant__ int cst[64]; __constant__ float cf[16];
__device__ __noinline__ int helper(int a, float b) { return a * 3 + (int)b; }
__device__ __noinline__ double quotient(double a, int b) { return a / b; }

extern "C" __global__ void k2(int *gi, float *gf, double *gd, int n, float x, cudaTextureObject_t to, cudaSurfaceObject_t so)
{
    __shared__ __align__(128) int s[256]; __shared__ float sf[128]; __shared__ double sd[64]; __shared__ unsigned long long mb; int a[16]; float fa[8]; for (int q = 0; q < 16; q++) a[q] = n; for (int q = 0; q < 8; q++) fa[q] = x; int i0 = threadIdx.x, i1 = n, i2 = gi[threadIdx.x], i3 = blockIdx.x * blockDim.x + threadIdx.x; unsigned u0 = i2, u1 = i3, u2 = n * 3; long long l0 = i2, l1 = n; float f0 = gf[threadIdx.x], f1 = x, f2 = i0; double d0 = f0, d1 = n; __half2 h0 = __float2half2_rn(f0), h1 = __float2half2_rn(x); __nv_bfloat162 b0 = __float2bfloat162_rn(x);
    if (i2 > i1) { i1 = ((signed char *)gi)[i3 & 4095]; gd[i2 & 511] = d1; if (d1 > d1) d1 += d0; i3 = a[i1 & 15]; }
    gf[i2 & 1023] = f2;
    if (d1 > d1) d1 += d0;
    gf[i2 & 1023] = f0;
    i3 = __dp2a_lo(i1, i3, i2);
    if (blockIdx.x == 0 || i2 == 3) { surf2Dwrite(i1, so, i1, i3); f0 = fa[i0 & 7]; }
    gf[i3] = f0 + f1 + f2;
    gf[i0] = a[0] + fa[3];
}
