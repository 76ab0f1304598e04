#include <cstdio>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>
__constant__ int cst[64]; __constant__ float cf[16];
__device__ __noinline__ int helper(int a, float b) { return a * 3 + (int)b; }
__device__ __noinline__ double quotient(double a, int b) { return a / b; }

extern "C" __global__ void k4(int *gi, float *gf, double *gd, int n, float x, cudaTextureObject_t to, cudaSurfaceObject_t so)
{
    __shared__ __align__(128) int s[256]; __shared__ float sf[128]; __shared__ double sd[64]; __shared__ unsigned long long mb; int a[16]; float fa[8]; for (int q = 0; q < 16; q++) a[q] = n; for (int q = 0; q < 8; q++) fa[q] = x; int i0 = threadIdx.x, i1 = n, i2 = gi[threadIdx.x], i3 = blockIdx.x * blockDim.x + threadIdx.x; unsigned u0 = i2, u1 = i3, u2 = n * 3; long long l0 = i2, l1 = n; float f0 = gf[threadIdx.x], f1 = x, f2 = i0; double d0 = f0, d1 = n; __half2 h0 = __float2half2_rn(f0), h1 = __float2half2_rn(x); __nv_bfloat162 b0 = __float2bfloat162_rn(x);
    u0 = __activemask();
    f2 = tex1Dfetch<float>(to, i2);
    if (i0 == 17) printf("%d %f\n", i0, f1);
    if (i3 > i2) { d0 = quotient(d1, i0); } else { if (n > 9) { { float4 v = tex2Dgather<float4>(to, f2, f0, 1); f1 = v.y; } u2 = __match_any_sync(~0u, i2); f0 = tex2D<float>(to, f1, f2); if (n > 9) return; } else { gd[i3 & 511] = d1; i2 = a[i0 & 15]; i1 = a[i3 & 15]; f0 = gf[i1 & 1023]; } l0 = __shfl_sync(~0u, l1, i0 & 31); f2 = tex1Dfetch<float>(to, i0); __syncwarp(); }
    f1 = __shfl_down_sync(~0u, f1, i3 & 31);
    i3 += cst[i0 & 63];
    fa[i3 & 7] = f2;
    l0 = __shfl_sync(~0u, l0, i1 & 31);
    d1 = quotient(d0, i3);
    if (__any_sync(~0u, i0 > 3)) i1++;
    for (int k267506 = 0; k267506 < n; k267506++) { if (i0 == 17) printf("%d %f\n", i3, f1); i0 = helper(i0, f1); i2 += k267506; }
    gd[i3 + 9] = l0 + l1;
    gi[i3 + 1] = u0 ^ u1 ^ u2;
    gf[i3] = f0 + f1 + f2;
    gd[i3] = d0 + d1;
    ((__half2 *)gi)[i3] = h0;
    gi[i3] = i0 + i1 + i2 + i3;
}
