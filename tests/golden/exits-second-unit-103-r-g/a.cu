#include <cstdio>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>
__constant__ int cst[64]; __constant__ float cf[16];
__device__ __noinline__ int helper(int a, float b) { return a * 3 + (int)b; }
__device__ __noinline__ double quotient(double a, int b) { return a / b; }

extern "C" __global__ void k3(int *gi, float *gf, double *gd, int n, float x, cudaTextureObject_t to, cudaSurfaceObject_t so)
{
    __shared__ __align__(128) int s[256]; __shared__ float sf[128]; __shared__ double sd[64]; __shared__ unsigned long long mb; int a[16]; float fa[8]; for (int q = 0; q < 16; q++) a[q] = n; for (int q = 0; q < 8; q++) fa[q] = x; int i0 = threadIdx.x, i1 = n, i2 = gi[threadIdx.x], i3 = blockIdx.x * blockDim.x + threadIdx.x; unsigned u0 = i2, u1 = i3, u2 = n * 3; long long l0 = i2, l1 = n; float f0 = gf[threadIdx.x], f1 = x, f2 = i0; double d0 = f0, d1 = n; __half2 h0 = __float2half2_rn(f0), h1 = __float2half2_rn(x); __nv_bfloat162 b0 = __float2bfloat162_rn(x);
    __syncthreads();
    sf[i0 & 127] = f2;
    if (i2 > n && f2 > 1.0f) return;
    asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(u0) : "l"(gi + (i2 & 1023)));
    sd[i2 & 63] = d1;
    if (threadIdx.x < 32) { if (threadIdx.x < 32) { sf[i1 & 127] = f1; sf[i3 & 127] = f1; } if (blockIdx.x == 0 || i0 == 3) { __syncthreads(); f1 = sf[i3 & 127]; i0 = __syncthreads_count(i0 > 0); } }
    f0 = (float)l1;
    d0 = sd[i1 & 63];
    i1 = __clzll(l1);
    l0 = l1 >> (i2 & 63);
    if (l0 != l0) return;
    gf[i0] = a[0] + fa[3];
    gi[i3 + 1] = u0 ^ u1 ^ u2;
}
