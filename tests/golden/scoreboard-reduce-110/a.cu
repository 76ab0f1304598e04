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
    for (int k805308 = 0; k805308 < n; k805308++) { u0 = __activemask(); asm volatile("pmevent 3;"); atomicOr(gi + 1, i3); if (n > 9) { l1 += clock64(); __nanosleep(20); if (h0.x > h0.y || f2 < x) return; i2 = __shfl_xor_sync(~0u, i3, 2); } else { u0 = __ballot_sync(~0u, i1 > 0); __nanosleep(u0); asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(l1)); } i2 += k805308; }
    d0 = exp(d0);
    atomicAdd(gd + (i2 & 511), d0);
    if (u2 & 4) { f2 = tex1Dfetch<float>(to, i2); for (int k37194 = 0; k37194 < n; k37194++) { __nanosleep(20); __syncwarp(); i2 = atomicAdd(gi + 2, 1); i2 += k37194; } } else { switch (i1 & 3) { case 0: f1 = __shfl_down_sync(~0u, f2, i3 & 31); break; case 1: d0 = sqrt(d1); case 2: __threadfence_system(); break; default: fa[i0 & 7] = f1; } for (int k811018 = 0; k811018 < 4; k811018++) { __syncwarp(); atomicAdd(gi + 2, i2); atomicAdd(gi, 1); i2 += k811018; } l0 = atomicExch((unsigned long long *)gd + (i3 & 511), l0); }
    for (int k752170 = 0; k752170 < n; k752170++) { gd[i0 & 511] = d0; surf2Dwrite(i1, so, i2, i2); if (i0 > n && f2 > 1.0f) return; i2 += k752170; }
    d1 = __shfl_up_sync(~0u, d0, 1);
    __nanosleep(u1);
    asm volatile("pmevent 3;");
    gf[i3] = f0 + f1 + f2;
}
