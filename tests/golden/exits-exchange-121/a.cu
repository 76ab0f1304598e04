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
    { float4 v = tex2Dgather<float4>(to, f0, f2, 1); f0 = v.y; }
    for (int k27678 = 0; k27678 < n; k27678++) { h1 = __hmax2(h0, h1); i2 += k27678; }
    h0 = __h2div(h1, h0);
    asm volatile("mbarrier.init.shared.b64 [%0], 32;" :: "r"((unsigned)__cvta_generic_to_shared(&mb)));
    asm volatile("cp.async.bulk.commit_group;");
    i3 = atomicInc((unsigned *)gi + (i1 & 1023), u2);
    f1 = tex2DLod<float>(to, f1, f1, f1);
    atomicOr(gi + 1, i2);
    if (f0 < f1) { if (f2 < f0) return; }
    for (int k912147 = 0; k912147 < n; k912147++) { f0 = tex2DLod<float>(to, f0, f0, f0); i2 = atomicAdd(gi + 1, 1); __threadfence_system(); i2 += k912147; }
    while (blockIdx.x == 0 || i3 == 3) { f2 = atomicAdd(gf + (i1 & 1023), f1); for (int k174833 = 0; k174833 < 4; k174833++) { f1 = __bfloat162float(b0.x); asm volatile("barrier.cluster.wait;"); h0 = __hfma2(h1, h0, h1); atomicAdd(gi + 1, i2); i2 += k174833; } if (!n--) break; }
    ((__half2 *)gi)[i3] = h0;
    gi[i3] = i0 + i1 + i2 + i3;
    gd[i3 + 9] = l0 + l1;
    gi[i3 + 1] = u0 ^ u1 ^ u2;
}
