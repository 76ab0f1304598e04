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
    u1 = __reduce_or_sync(__activemask(), u2);
    i1 = __reduce_add_sync(~0u, i1);
    if (threadIdx.x < 32) { for (int k688616 = 0; k688616 < i1; k688616++) { i0 = __reduce_add_sync(~0u, i1); f2 = __int2float_rz(i2); f0 = __sinf(f0); if (__any_sync(~0u, i2 > 3)) i2++; i2 += k688616; } }
    l0 = __shfl_sync(~0u, l1, i3 & 31);
    if (threadIdx.x < 32) { b0 = __hfma2(b0, b0, __float22bfloat162_rn(make_float2(f2, f2))); i3 = isnan(f2) ? 1 : i1; b0 = __hfma2(b0, b0, __float22bfloat162_rn(make_float2(f1, f2))); }
    for (int k649383 = 0; k649383 < 4; k649383++) { f2 = fmodf(f0, f2); i2 += k649383; }
    l1 = __shfl_sync(~0u, l0, i0 & 31);
    if (n > 9) { u0 = __match_any_sync(~0u, i0); if (i2 > i0) return; f2 = tanhf(f2); b0 = __hfma2(b0, b0, __float22bfloat162_rn(make_float2(f2, f1))); } else { if (l1 != l1) { f0 = __fmul_ru(f2, f1); f1 = fminf(f0, f2); f2 = fmaf(f0, f1, f2); b0 = __hfma2(b0, b0, __float22bfloat162_rn(make_float2(f0, f1))); } }
    l0 = __shfl_sync(~0u, l0, i0 & 31);
    gi[i3 + 1] = u0 ^ u1 ^ u2;
    gd[i3] = d0 + d1;
    ((__half2 *)gi)[i3] = h0;
    gd[i3 + 9] = l0 + l1;
    gf[i0] = a[0] + fa[3];
    gi[i3] = i0 + i1 + i2 + i3;
}
