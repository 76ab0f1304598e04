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
    f1 = __fmul_ru(f0, f0);
    if (d0 > d1 && i0 < n) { if (f1 < f1) { f1 = rsqrtf(f1); } for (int k880227 = 0; k880227 < 4; k880227++) { atomicAdd(gi, 1); asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(l1)); atomicAdd(gd + (i1 & 511), d0); i2 += k880227; } if (n > 9) return; } else { if (blockIdx.x == 0 || i0 == 3) return; if (l1 != l1) return; atomicAdd(gi + 2, i3); f2 = sinf(f1); }
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(l0));
    u2 = blockIdx.z * blockDim.x;
    i1 = atomicAdd(gi + 2, 1);
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(u2));
    atomicAdd((__half2 *)gi + (i0 & 1023), h0);
    __threadfence_system();
    for (int k545135 = 0; k545135 < i1; k545135++) { f0 = fminf(f2, f2); i2 += k545135; }
    for (int k693502 = 0; k693502 < 4; k693502++) { atomicAdd(gi + (i3 & 1023), i1); i2 += k693502; }
    i1 = atomicCAS(gi + (i0 & 1023), i3, i1);
    gf[i0] = a[0] + fa[3];
    gi[i3] = i0 + i1 + i2 + i3;
    gi[i3 + 1] = u0 ^ u1 ^ u2;
    ((__half2 *)gi)[i3] = h0;
}
