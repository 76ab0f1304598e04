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
    for (int k83967 = 0; k83967 < n; k83967++) { for (int k297455 = 0; k297455 < n; k297455++) { asm volatile("cp.async.bulk.wait_group 0;"); i2 += k297455; } asm volatile("fence.proxy.async;"); i2 += k83967; }
    if (n > 9) return;
    asm("szext.wrap.s32 %0, %1, %2;" : "=r"(i3) : "r"(i2), "r"(u2));
    asm volatile("griddepcontrol.wait;");
    if (blockIdx.x == 0 || i1 == 3) { asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" :: "r"((unsigned)__cvta_generic_to_shared(&s[(i1 & 31) * 4])), "l"(gi + (i1 & 63) * 4)); } else { for (int k494456 = 0; k494456 < i1; k494456++) { i2 = __shfl_xor_sync(~0u, i1, 1); i2 += k494456; } u0 = __activemask(); __syncwarp(); if (__any_sync(~0u, i3 > 3)) i3++; }
    u0 += clock();
    i1 = __shfl_xor_sync(~0u, i0, 2);
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(u0));
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" :: "r"((unsigned)__cvta_generic_to_shared(&s[(i1 & 31) * 4])), "l"(gi + (i1 & 63) * 4));
    asm volatile("cp.async.bulk.commit_group;");
    while (l1 != l1) { u0 = __ballot_sync(~0u, i0 > 0); asm("lop3.b32 %0, %1, %2, %3, 0x92;" : "=r"(u0) : "r"(u2), "r"(u1), "r"(u2)); u2 = blockIdx.z * blockDim.x; while (u2 & 4) { f2 = __shfl_down_sync(~0u, f1, i0 & 31); asm volatile("pmevent 3;"); __nanosleep(20); if (!n--) break; } if (!n--) break; }
    __nanosleep(20);
    gi[i3 + 1] = u0 ^ u1 ^ u2;
    gd[i3 + 9] = l0 + l1;
    gf[i3] = f0 + f1 + f2;
    gi[i3] = i0 + i1 + i2 + i3;
    gd[i3] = d0 + d1;
}
extern "C" __global__ void k1(int *gi, float *gf, double *gd, int n, float x, cudaTextureObject_t to, cudaSurfaceObject_t so)
{
    __shared__ __align__(128) int s[256]; __shared__ float sf[128]; __shared__ double sd[64]; __shared__ unsigned long long mb; int a[16]; float fa[8]; for (int q = 0; q < 16; q++) a[q] = n; for (int q = 0; q < 8; q++) fa[q] = x; int i0 = threadIdx.x, i1 = n, i2 = gi[threadIdx.x], i3 = blockIdx.x * blockDim.x + threadIdx.x; unsigned u0 = i2, u1 = i3, u2 = n * 3; long long l0 = i2, l1 = n; float f0 = gf[threadIdx.x], f1 = x, f2 = i0; double d0 = f0, d1 = n; __half2 h0 = __float2half2_rn(f0), h1 = __float2half2_rn(x); __nv_bfloat162 b0 = __float2bfloat162_rn(x);
    while (threadIdx.x < 32) { surf2Dwrite(i3, so, i0, i3); u2 = __match_any_sync(~0u, i0); while (f2 < f1) { f1 = (float)d0; if (f1 < f2) return; if (!n--) break; } if (!n--) break; }
    i3 = ((signed char *)gi)[i3 & 4095];
    if (threadIdx.x < 32) return;
    i0 = a[i0 & 15];
    f2 = tex2D<float>(to, f1, f2);
    if (h0.x > h0.y || f2 < x) return;
    d0 = exp(d0);
    d0 = __shfl_up_sync(~0u, d0, 1);
    u0 = __ballot_sync(~0u, i0 > 0);
    surf2Dread(&i0, so, i2, i3);
    gd[i3] = d0 + d1;
    gi[i3] = i0 + i1 + i2 + i3;
    gf[i0] = a[0] + fa[3];
    ((__half2 *)gi)[i3] = h0;
}
extern "C" __global__ void k2(int *gi, float *gf, double *gd, int n, float x, cudaTextureObject_t to, cudaSurfaceObject_t so)
{
    __shared__ __align__(128) int s[256]; __shared__ float sf[128]; __shared__ double sd[64]; __shared__ unsigned long long mb; int a[16]; float fa[8]; for (int q = 0; q < 16; q++) a[q] = n; for (int q = 0; q < 8; q++) fa[q] = x; int i0 = threadIdx.x, i1 = n, i2 = gi[threadIdx.x], i3 = blockIdx.x * blockDim.x + threadIdx.x; unsigned u0 = i2, u1 = i3, u2 = n * 3; long long l0 = i2, l1 = n; float f0 = gf[threadIdx.x], f1 = x, f2 = i0; double d0 = f0, d1 = n; __half2 h0 = __float2half2_rn(f0), h1 = __float2half2_rn(x); __nv_bfloat162 b0 = __float2bfloat162_rn(x);
    if (i3 >= n) return;
    if (i2 > i2) { if (d0 > d0 && i2 < n) { f0 = sqrtf(f0); } else { __nanosleep(u0); } i3 = isnan(f1) ? 1 : i2; h1 = __hmax2(h0, h0); } else { asm volatile("bar.sync 2, 64;"); if (n > 9) return; }
    f1 = f1 / f2;
    asm volatile("bar.arrive 4, 64;");
    switch (i1 & 3) { case 0: d1 = fma(d0, d1, d0); break; case 1: asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" :: "r"((unsigned)__cvta_generic_to_shared(&s[(i1 & 31) * 4])), "l"(gi + (i0 & 63) * 4)); case 2: u1 = threadIdx.y; break; default: i1 = (int)d0; }
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(u0));
    f1 = __int2float_rz(i3);
    gd[i3] = d0 + d1;
    gf[i0] = a[0] + fa[3];
    gi[i3 + 1] = u0 ^ u1 ^ u2;
    gf[i3] = f0 + f1 + f2;
}
extern "C" __global__ void k3(int *gi, float *gf, double *gd, int n, float x, cudaTextureObject_t to, cudaSurfaceObject_t so)
{
    __shared__ __align__(128) int s[256]; __shared__ float sf[128]; __shared__ double sd[64]; __shared__ unsigned long long mb; int a[16]; float fa[8]; for (int q = 0; q < 16; q++) a[q] = n; for (int q = 0; q < 8; q++) fa[q] = x; int i0 = threadIdx.x, i1 = n, i2 = gi[threadIdx.x], i3 = blockIdx.x * blockDim.x + threadIdx.x; unsigned u0 = i2, u1 = i3, u2 = n * 3; long long l0 = i2, l1 = n; float f0 = gf[threadIdx.x], f1 = x, f2 = i0; double d0 = f0, d1 = n; __half2 h0 = __float2half2_rn(f0), h1 = __float2half2_rn(x); __nv_bfloat162 b0 = __float2bfloat162_rn(x);
    if (i3 >= n) return;
    for (int k374455 = 0; k374455 < n; k374455++) { while (l0 != l1) { i3 += cst[i1 & 63]; if (!n--) break; } i1 = gi[i2 & 1023]; asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(l1) : "r"(i2), "r"(i3), "l"(l0)); asm("bfe.s32 %0, %1, %2, %3;" : "=r"(i1) : "r"(i0), "r"(i2), "r"(i0)); i2 += k374455; }
    if (i3 > n && f2 > 1.0f) { f1 = __ldg(gf + (i1 & 1023)); l0 = __mul64hi(l1, l1); f2 = (float)l0; for (int k324594 = 0; k324594 < i1; k324594++) { i3 = ((signed char *)gi)[i1 & 4095]; i0 += cst[i2 & 63]; gf[i0 & 1023] = f0; i2 += k324594; } }
    for (int k258537 = 0; k258537 < i1; k258537++) { f1 = gf[i3 & 1023]; l1 = max(l0, l0); asm("bfe.s32 %0, %1, %2, %3;" : "=r"(i1) : "r"(i1), "r"(i1), "r"(i0)); asm("bmsk.clamp.b32 %0, %1, %2;" : "=r"(u2) : "r"(u1), "r"(u1)); i2 += k258537; }
    if (f0 < f0) { { float4 v = ((float4 *)gf)[i2 & 255]; f2 = v.x + v.y; f1 = v.z * v.w; } f1 = (float)l1; } else { asm("bfe.s32 %0, %1, %2, %3;" : "=r"(i2) : "r"(i0), "r"(i2), "r"(i0)); while (i2 > n && f0 > 1.0f) { asm volatile("st.release.sys.u32 [%0], %1;" :: "l"(gi + (i0 & 1023)), "r"(u0)); l1 = __mul64hi(l0, l1); f2 = gf[i2 & 1023]; if (!n--) break; } asm volatile("st.release.sys.u32 [%0], %1;" :: "l"(gi + (i2 & 1023)), "r"(u1)); if (l0 != l0) { if (threadIdx.x < 32) return; } else { i0 = __clzll(l1); } }
    i1 += cst[i2 & 63];
    f1 = fa[i0 & 7];
    l0 = l0 * l0 + i1;
    f2 = (float)l0;
    i0 += cst[i1 & 63];
    if (d1 > d0 && i0 < n) return;
    l0 = (long long)f0;
    i2 = __clzll(l0);
    ((short *)gi)[i1 & 2047] = i0;
    ((__half2 *)gi)[i3] = h0;
    gi[i3] = i0 + i1 + i2 + i3;
    gf[i0] = a[0] + fa[3];
    gd[i3 + 9] = l0 + l1;
    gd[i3] = d0 + d1;
}
