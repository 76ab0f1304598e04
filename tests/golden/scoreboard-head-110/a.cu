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
    asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(l1) : "r"(i2), "r"(i1), "l"(l0));
    ((int4 *)gi)[i2 & 255] = make_int4(i0, i1, i3, i1);
    __syncwarp();
    __threadfence_block();
    while (n > 9) { asm("bmsk.clamp.b32 %0, %1, %2;" : "=r"(u0) : "r"(u0), "r"(u0)); f0 = __ldg(gf + (i1 & 1023)); ((int4 *)gi)[i2 & 255] = make_int4(i2, i2, i2, i3); gi[i1 & 1023] = i2; if (!n--) break; }
    asm("lop3.b32 %0, %1, %2, %3, 0x91;" : "=r"(u2) : "r"(u1), "r"(u0), "r"(u2));
    if (f2 < f0) { atomicOr(gi + 2, i3); __threadfence_block(); } else { asm("bfe.s32 %0, %1, %2, %3;" : "=r"(i1) : "r"(i2), "r"(i3), "r"(i3)); if (f1 < f1) { i3 = ((signed char *)gi)[i3 & 4095]; i2 = gi[i3 & 1023]; fa[i0 & 7] = f2; u0 = __match_any_sync(~0u, i0); } else { asm volatile("prefetch.global.L2 [%0];" :: "l"(gi + (i1 & 1023))); } atomicAdd(gd + (i3 & 511), d0); }
    asm volatile("st.release.sys.u32 [%0], %1;" :: "l"(gi + (i1 & 1023)), "r"(u0));
    gi[i0 & 1023] = i1;
    i3 = atomicAdd(gi + 2, 1);
    f1 = atomicAdd(gf + (i0 & 1023), f0);
    while (i2 > i1) { atomicAdd((__half2 *)gi + (i1 & 1023), h1); if (!n--) break; }
    gi[i3 + 1] = u0 ^ u1 ^ u2;
    gf[i3] = f0 + f1 + f2;
    ((__half2 *)gi)[i3] = h0;
    gi[i3] = i0 + i1 + i2 + i3;
    gd[i3 + 9] = l0 + l1;
}
