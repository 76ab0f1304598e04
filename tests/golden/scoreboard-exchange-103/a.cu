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
    i2 = atomicCAS(gi + (i3 & 1023), i0, i3);
    { unsigned long long t; asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(t) : "r"((unsigned)__cvta_generic_to_shared(&mb))); l1 = t; }
    h1 = h2sqrt(h0);
    while (d0 > d1 && i2 < n) { h0 = __hmax2(h1, h1); f1 = atomicAdd(gf + (i1 & 1023), f2); h1 = __floats2half2_rn(f2, f2); if (!n--) break; }
    if (d0 > d1 && i3 < n) { if (i3 > i1) return; asm volatile("mbarrier.init.shared.b64 [%0], 32;" :: "r"((unsigned)__cvta_generic_to_shared(&mb))); switch (i1 & 3) { case 0: f0 = __low2float(h1); break; case 1: f0 = __low2float(h0); case 2: i1 = atomicCAS(gi + (i2 & 1023), i1, i3); break; default: h1 = __hfma2(h1, h1, h0); } if (u1 & 4) { h0 = __floats2half2_rn(f2, f0); if (__hbgt2(h0, h1)) f1 += 1; asm volatile("cp.async.wait_group 2;"); } }
    if (blockIdx.x == 0 || i1 == 3) return;
    asm volatile("barrier.sync %0;" :: "r"(u0 & 7));
    h0 = __hfma2(h1, h0, h0);
    asm volatile("griddepcontrol.wait;");
    i2 = __nv_cvt_float_to_fp8(f2, __NV_SATFINITE, __NV_E4M3);
    gd[i3] = d0 + d1;
    gd[i3 + 9] = l0 + l1;
    gf[i0] = a[0] + fa[3];
    gi[i3] = i0 + i1 + i2 + i3;
    gf[i3] = f0 + f1 + f2;
    gi[i3 + 1] = u0 ^ u1 ^ u2;
}
