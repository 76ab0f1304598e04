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
    i2 = atomicAdd(gi + 2, 1);
    if (i1 > n && f0 > 1.0f) return;
    f2 = __ldg(gf + (i2 & 1023));
    __nanosleep(20);
    u0 = blockIdx.z * blockDim.x;
    for (int k255527 = 0; k255527 < n; k255527++) { i3 += cst[i1 & 63]; switch (i1 & 3) { case 0: asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(l1)); break; case 1: f1 = atomicAdd(gf + (i1 & 1023), f1); case 2: f1 = __ldg(gf + (i0 & 1023)); break; default: atomicAdd(gi + 1, i1); } i2 += k255527; }
    i2 += cst[i2 & 63];
    l0 = atomicExch((unsigned long long *)gd + (i3 & 511), l1);
    gf[i0] = a[0] + fa[3];
    gd[i3] = d0 + d1;
    gi[i3 + 1] = u0 ^ u1 ^ u2;
    gi[i3] = i0 + i1 + i2 + i3;
    gd[i3 + 9] = l0 + l1;
}
