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
    f1 = fa[i1 & 7];
    while (i0 > n && f1 > 1.0f) { a[i0 & 15] = i1; __threadfence(); u1 = __vadd4(u0, u1); ((int4 *)gi)[i0 & 255] = make_int4(i2, i2, i2, i3); if (!n--) break; }
    if (n > 9) { atomicAdd(gi + (i1 & 1023), i3); if (i2 > n && f2 > 1.0f) { atomicAdd(gf, 1.0f); i3 = i2 % (i3 | 1); u0 = __fns(u2, u2 & 31, 1); __threadfence(); } }
    a[i3 & 15] = i2;
    ((short *)gi)[i3 & 2047] = i3;
    __threadfence();
    switch (i1 & 3) { case 0: u1 = __brev(u0); break; case 1: fa[i2 & 7] = f2; case 2: ((int4 *)gi)[i2 & 255] = make_int4(i2, i3, i3, i3); break; default: atomicAdd(gf, 1.0f); }
    if (u2 & 4) { atomicAdd(gd + (i2 & 511), d1); if (d1 > d1 && i1 < n) { i2 = i2 * i3 + i1; __threadfence_block(); f0 = gf[i1 & 1023]; } else { f1 = __ldg(gf + (i1 & 1023)); atomicAdd((__half2 *)gi + (i1 & 1023), h1); if (i0 > n && f2 > 1.0f) return; u1 = __vmaxs4(u0, u1); } if (i3 > i1) { atomicAdd((__half2 *)gi + (i2 & 1023), h0); } else { i0 = __dp4a(i0, i1, i1); ((int4 *)gi)[i2 & 255] = make_int4(i3, i3, i2, i0); ((int4 *)gi)[i0 & 255] = make_int4(i0, i2, i0, i1); i1 = atomicAdd(gi + 2, 1); } i3 = a[i0 & 15]; }
    if (u2 & 4) return;
    i2 = a[i1 & 15];
    atomicAdd(gf, 1.0f);
    i2 = atomicAdd(gi + (i1 & 1023), i2);
    for (int k805890 = 0; k805890 < 4; k805890++) { atomicAdd(gi, 1); atomicMax(gi, i2); i0 = a[i1 & 15]; gf[i2 & 1023] = f2; i2 += k805890; }
    f2 = gf[i1 & 1023];
    gi[i3 + 1] = u0 ^ u1 ^ u2;
    gi[i3] = i0 + i1 + i2 + i3;
}
