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
    l1 = (long long)f0;
    atomicAdd(&s[i1 & 255], i3);
    i2 = __viaddmax_s32(i0, i0, i1);
    atomicOr(gi + 2, i3);
    u0 = __viaddmin_s16x2(u2, u2, u1);
    __syncthreads();
    if (blockIdx.x == 0 || i2 == 3) { for (int k672795 = 0; k672795 < i1; k672795++) { if (i3 > i1) return; asm volatile("cp.async.commit_group;"); i2 += k672795; } } else { asm volatile("barrier.sync %0;" :: "r"(u0 & 7)); if (l1 != l1) return; if (d0 > d0 && i0 < n) { if (n > 9) return; } else { asm volatile("cp.async.commit_group;"); l0 = l0 * l0 + i1; atomicMax(gi, i2); atomicAdd(gi + 1, i3); } if (u0 & 4) return; }
    if (l1 != l0) { { bool p, q; u0 = __vibmax_s16x2(u1, u0, &p, &q); if (p) i1 += q; } asm volatile("barrier.cluster.arrive;"); if (l1 != l0) return; __syncthreads(); } else { __syncthreads(); asm volatile("cp.async.bulk.commit_group;"); l0 = atomicExch((unsigned long long *)gd + (i0 & 511), l1); atomicAdd((__half2 *)gi + (i2 & 1023), h1); }
    gi[i3] = i0 + i1 + i2 + i3;
    gd[i3 + 9] = l0 + l1;
    ((__half2 *)gi)[i3] = h0;
    gi[i3 + 1] = u0 ^ u1 ^ u2;
    gf[i0] = a[0] + fa[3];
}
