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
    gf[i0 & 1023] = f1;
    i2 = atomicMax(&s[i2 & 255], i1);
    f2 = __ldg(gf + (i2 & 1023));
    switch (i1 & 3) { case 0: ((int4 *)gi)[i2 & 255] = make_int4(i3, i2, i0, i3); break; case 1: s[i1 & 255] = i3; case 2: sf[i0 & 127] = f2; break; default: d1 = gd[i2 & 511]; }
    gi[i0 & 1023] = i2;
    sd[i0 & 63] = d0;
    i3 = ((signed char *)gi)[i3 & 4095];
    i3 = ((signed char *)gi)[i2 & 4095];
    gf[i0] = a[0] + fa[3];
    ((__half2 *)gi)[i3] = h0;
    gd[i3 + 9] = l0 + l1;
    gi[i3] = i0 + i1 + i2 + i3;
    gf[i3] = f0 + f1 + f2;
}
