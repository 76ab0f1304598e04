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
    if (blockIdx.x == 0 || i1 == 3) { for (int k963210 = 0; k963210 < 4; k963210++) { __syncthreads(); s[i2 & 255] = i2; sd[i0 & 63] = d0; i2 += k963210; } if (f1 < f0) { asm volatile("bar.sync 2, 64;"); d1 = sd[i1 & 63]; { int p; asm volatile("{ .reg .pred q; mbarrier.try_wait.parity.shared.b64 q, [%1], %2; selp.b32 %0, 1, 0, q; }" : "=r"(p) : "r"((unsigned)__cvta_generic_to_shared(&mb)), "r"(u2 & 1)); i1 += p; } f2 = sf[i0 & 127]; } }
    asm volatile("mbarrier.init.shared.b64 [%0], 32;" :: "r"((unsigned)__cvta_generic_to_shared(&mb)));
    if (blockIdx.x == 0 || i1 == 3) { if (f0 < f0) { asm volatile("fence.proxy.async;"); } for (int k25292 = 0; k25292 < 4; k25292++) { asm volatile("barrier.cluster.wait;"); if (d1 > d0 && i3 < n) return; __syncthreads(); if (h1.x > h1.y || f2 < x) return; i2 += k25292; } for (int k890968 = 0; k890968 < i1; k890968++) { if (l1 != l0) return; asm volatile("cp.async.commit_group;"); h0 = __hmax2(h0, h0); i2 += k890968; } }
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 64, [%2];" :: "r"((unsigned)__cvta_generic_to_shared(s)), "l"(gi), "r"((unsigned)__cvta_generic_to_shared(&mb)) : "memory");
    if (d1 > d0 && i0 < n) return;
    gi[i3] = i0 + i1 + i2 + i3;
    gf[i3] = f0 + f1 + f2;
    gi[i3 + 1] = u0 ^ u1 ^ u2;
    gd[i3 + 9] = l0 + l1;
}
