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
    if (i0 > i0) { u1 = __brev(u0); f2 = tex2D<float>(to, f2, f2); i0 = a[i3 & 15]; }
    f0 = tex1Dfetch<float>(to, i0);
    u2 = __reduce_or_sync(__activemask(), u0);
    ((short *)gi)[i1 & 2047] = i3;
    while (h1.x > h1.y || f0 < x) { surf2Dread(&i0, so, i1, i2); ((short *)gi)[i2 & 2047] = i2; if (u1 & 4) { gi[i3 & 1023] = i2; } else { i2 = i3 * i1 + i3; i0 = ((signed char *)gi)[i3 & 4095]; i1 = __popc(u0); u0 = __reduce_or_sync(__activemask(), u1); } if (!n--) break; }
    i2 = i1 / 7;
    for (int k412288 = 0; k412288 < 4; k412288++) { { float4 v = tex2Dgather<float4>(to, f2, f0, 1); f2 = v.y; } u2 = __vcmpgts2(u0, u2); ((int4 *)gi)[i2 & 255] = make_int4(i3, i0, i1, i2); i2 += k412288; }
    if (d0 > d1 && i1 < n) return;
    for (int k281482 = 0; k281482 < n; k281482++) { for (int k287285 = 0; k287285 < n; k287285++) { u0 = __reduce_or_sync(__activemask(), u1); { float4 v = tex2Dgather<float4>(to, f2, f2, 1); f1 = v.y; } i2 += k287285; } f0 = tex1Dfetch<float>(to, i2); ((short *)gi)[i0 & 2047] = i2; if (l1 != l0) { d0 = gd[i1 & 511]; f1 = tex2DLod<float>(to, f2, f2, f0); f1 = tex2DLod<float>(to, f0, f2, f0); } i2 += k281482; }
    gd[i2 & 511] = d0;
    i0 = gi[i2 & 1023];
    gi[i3 & 1023] = i3;
    if (i0 > i0) { i0 = __clz(i0); for (int k885277 = 0; k885277 < 4; k885277++) { f2 = tex2DLod<float>(to, f0, f2, f2); { float4 v = tex2Dgather<float4>(to, f0, f1, 1); f0 = v.y; } f1 = tex1Dfetch<float>(to, i2); i2 += cst[i2 & 63]; i2 += k885277; } }
    gd[i3 + 9] = l0 + l1;
    gi[i3 + 1] = u0 ^ u1 ^ u2;
    gi[i3] = i0 + i1 + i2 + i3;
    ((__half2 *)gi)[i3] = h0;
    gd[i3] = d0 + d1;
}
