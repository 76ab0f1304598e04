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
    for (int k579333 = 0; k579333 < n; k579333++) { l0 = max(l1, l1); l1 = (long long)d0; i2 += k579333; }
    if (d0 > d1 && i0 < n) { switch (i1 & 3) { case 0: l0 = l1 * l0 + i0; break; case 1: u1 = __funnelshift_l(u2, u2, u2); case 2: i1 = i2 % (i0 | 1); break; default: i3 = __popcll(l1); } } else { u1 = __fns(u2, u0 & 31, 2); u2 = (u1 << (i1 & 31)) | (u2 >> 5); i1 = __dp2a_lo(i1, i0, i0); }
    for (int k661907 = 0; k661907 < 4; k661907++) { l1 = (long long)d1; i2 += k661907; }
    for (int k747964 = 0; k747964 < i1; k747964++) { if (i1 > n && f1 > 1.0f) { f1 = (float)l0; i2 = __mulhi(i0, i0); } i0 = __dp4a(i2, i2, i1); if (f2 < f0) return; i2 += k747964; }
    u1 = __vabsdiffu4(u1, u2);
    gd[i3 + 9] = l0 + l1;
    gi[i3] = i0 + i1 + i2 + i3;
    gf[i3] = f0 + f1 + f2;
    gi[i3 + 1] = u0 ^ u1 ^ u2;
    gf[i0] = a[0] + fa[3];
}
