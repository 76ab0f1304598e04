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
    u0 = __match_any_sync(~0u, i1);
    u2 = blockIdx.z * blockDim.x;
    asm volatile("cp.async.bulk.commit_group;");
    u2 = __ballot_sync(~0u, i2 > 0);
    while (threadIdx.x < 32) { atomicOr(gi + 1, i1); d1 = __shfl_up_sync(~0u, d1, 1); i0 = atomicInc((unsigned *)gi + (i3 & 1023), u1); asm volatile("cp.async.wait_all;"); if (!n--) break; }
    switch (i1 & 3) { case 0: u2 = __activemask(); break; case 1: d0 = __shfl_up_sync(~0u, d1, 1); case 2: u2 += clock(); break; default: asm volatile("cp.async.bulk.commit_group;"); }
    asm volatile("cp.async.wait_group 2;");
    if (blockIdx.x == 0 || i1 == 3) { u1 += clock(); atomicOr(gi + 2, i1); }
    asm volatile("fence.proxy.async;");
    atomicAdd(gi + (i1 & 1023), i0);
    atomicAdd(gd + (i0 & 511), d0);
    asm volatile("cp.async.bulk.wait_group 0;");
    gi[i3 + 1] = u0 ^ u1 ^ u2;
    gd[i3 + 9] = l0 + l1;
    gf[i0] = a[0] + fa[3];
}
