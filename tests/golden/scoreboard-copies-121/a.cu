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
    for (int k989185 = 0; k989185 < i1; k989185++) { f1 = tex1Dfetch<float>(to, i0); i2 += k989185; }
    while (n > 9) { f2 = tex1Dfetch<float>(to, i1); while (u2 & 4) { asm volatile("cp.async.wait_group 2;"); if (!n--) break; } if (!n--) break; }
    surf2Dwrite(i3, so, i3, i0);
    { int p; asm volatile("{ .reg .pred q; elect.sync _|q, -1; selp.b32 %0, 1, 0, q; }" : "=r"(p)); i3 += p; }
    asm volatile("cp.async.commit_group;");
    if (l0 != l0) { while (blockIdx.x == 0 || i0 == 3) { f1 = tex2D<float>(to, f0, f1); if (n > 9) return; f1 = tex2DLod<float>(to, f2, f2, f2); if (!n--) break; } if (h0.x > h0.y || f0 < x) return; }
    { float4 v = tex2Dgather<float4>(to, f0, f1, 1); f0 = v.y; }
    if (l0 != l0) { while (i2 > i2) { surf2Dwrite(i0, so, i3, i1); f0 = tex2D<float>(to, f2, f0); surf2Dwrite(i2, so, i1, i3); if (!n--) break; } }
    if (n > 9) { asm volatile("griddepcontrol.wait;"); asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 64, [%2];" :: "r"((unsigned)__cvta_generic_to_shared(s)), "l"(gi), "r"((unsigned)__cvta_generic_to_shared(&mb)) : "memory"); surf2Dread(&i0, so, i3, i3); }
    for (int k435135 = 0; k435135 < n; k435135++) { if (blockIdx.x == 0 || i1 == 3) { { int p; asm volatile("{ .reg .pred q; elect.sync _|q, -1; selp.b32 %0, 1, 0, q; }" : "=r"(p)); i2 += p; } { float4 v = tex2Dgather<float4>(to, f1, f0, 1); f0 = v.y; } } else { asm volatile("cp.async.wait_all;"); surf2Dread(&i0, so, i2, i1); { unsigned long long t; asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(t) : "r"((unsigned)__cvta_generic_to_shared(&mb))); l0 = t; } } i2 += k435135; }
    ((__half2 *)gi)[i3] = h0;
    gi[i3] = i0 + i1 + i2 + i3;
    gf[i0] = a[0] + fa[3];
    gd[i3 + 9] = l0 + l1;
    gi[i3 + 1] = u0 ^ u1 ^ u2;
}
