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
    if (u1 & 4) { b0 = __hfma2(b0, b0, __float22bfloat162_rn(make_float2(f1, f2))); u2 = __vabsdiffu4(u0, u1); u1 = __match_any_sync(~0u, i0); if (n > 9) { d0 = __shfl_up_sync(~0u, d0, 1); u0 = __brev(u2); u2 = __reduce_or_sync(__activemask(), u0); } else { u2 = __reduce_or_sync(__activemask(), u2); } }
    u0 = __match_any_sync(~0u, i2);
    gf[i2 & 1023] = f1;
    d1 = __shfl_up_sync(~0u, d0, 1);
    for (int k318093 = 0; k318093 < 4; k318093++) { if (i2 > i0) return; i2 += k318093; }
    i0 = __reduce_add_sync(~0u, i0);
    u1 = __vabsdiffu4(u1, u0);
    i3 = __dp4a(i3, i1, i1);
    i3 = __reduce_add_sync(~0u, i3);
    gd[i0 & 511] = d1;
    gi[i3] = i0 + i1 + i2 + i3;
    gd[i3] = d0 + d1;
}
