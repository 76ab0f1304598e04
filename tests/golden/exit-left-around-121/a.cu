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
    if (i3 >= n) return;
    for (int k326596 = 0; k326596 < 4; k326596++) { for (int k878833 = 0; k878833 < n; k878833++) { atomicAdd(gd + (i3 & 511), d0); if (i0 > i3) return; i2 += k878833; } if (blockIdx.x == 0 || i3 == 3) { i0 = atomicAdd(gi + (i0 & 1023), i2); i1 = atomicInc((unsigned *)gi + (i2 & 1023), u0); atomicAdd(gd + (i1 & 511), d0); } else { i0 = gi[i0 & 1023]; __nanosleep(20); u0 = blockIdx.z * blockDim.x; a[i3 & 15] = i0; } asm volatile("pmevent 3;"); i2 += k326596; }
    i0 += cst[i0 & 63];
    l0 = atomicExch((unsigned long long *)gd + (i2 & 511), l1);
    fa[i1 & 7] = f2;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(u2));
    f2 = __ldg(gf + (i1 & 1023));
    gf[i2 & 1023] = f2;
    fa[i3 & 7] = f0;
    u1 = blockIdx.z * blockDim.x;
    u0 = blockIdx.z * blockDim.x;
    for (int k634464 = 0; k634464 < n; k634464++) { if (n > 9) { i1 = gi[i0 & 1023]; } i0 = ((signed char *)gi)[i2 & 4095]; f2 = gf[i1 & 1023]; i2 += k634464; }
    gi[i3 + 1] = u0 ^ u1 ^ u2;
    ((__half2 *)gi)[i3] = h0;
}
