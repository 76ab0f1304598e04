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
    asm volatile("st.release.sys.u32 [%0], %1;" :: "l"(gi + (i0 & 1023)), "r"(u2));
    f1 = gf[i3 & 1023];
    atomicAdd(gi + (i3 & 1023), i0);
    switch (i1 & 3) { case 0: asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(l0) : "r"(i0), "r"(i1), "l"(l1)); break; case 1: i0 = atomicInc((unsigned *)gi + (i1 & 1023), u1); case 2: i3 = helper(i1, f2); break; default: gi[i0 & 1023] = i3; }
    f2 = __bfloat162float(b0.x);
    gf[i2 & 1023] = f0;
    for (int k273585 = 0; k273585 < n; k273585++) { if (i3 == 17) printf("%d %f\n", i3, f1); if (f0 < f1) { f1 = __ldg(gf + (i2 & 1023)); asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(u2) : "l"(gi + (i2 & 1023))); __threadfence_system(); gi[i1 & 1023] = i0; } if (n > 9) { i1 = helper(i2, f2); f2 = __low2float(h0); } i2 += k273585; }
    h0 = __hfma2(h0, h1, h1);
    for (int k703269 = 0; k703269 < i1; k703269++) { for (int k72566 = 0; k72566 < i1; k72566++) { __threadfence_block(); if (h0.x > h0.y || f2 < x) return; i2 += k72566; } i2 += k703269; }
    f0 = gf[i0 & 1023];
    gd[i3 + 9] = l0 + l1;
    gf[i3] = f0 + f1 + f2;
    gd[i3] = d0 + d1;
}
