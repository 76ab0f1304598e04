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
    for (int k455212 = 0; k455212 < 4; k455212++) { if (f0 < f0) { asm volatile("cp.async.bulk.commit_group;"); i2 = atomicInc((unsigned *)gi + (i0 & 1023), u1); } if (blockIdx.x == 0 || i3 == 3) { atomicAdd((__half2 *)gi + (i3 & 1023), h0); } for (int k855250 = 0; k855250 < i1; k855250++) { if (l1 != l1) return; i2 += k855250; } for (int k130178 = 0; k130178 < 4; k130178++) { asm volatile("cp.async.bulk.commit_group;"); i3 = atomicInc((unsigned *)gi + (i2 & 1023), u1); atomicAdd(gd + (i0 & 511), d1); { unsigned long long t; asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(t) : "r"((unsigned)__cvta_generic_to_shared(&mb))); l0 = t; } i2 += k130178; } i2 += k455212; }
    asm volatile("cp.async.wait_all;");
    asm volatile("fence.proxy.async;");
    asm volatile("cp.async.wait_all;");
    atomicAdd(gi, 1);
    for (int k495963 = 0; k495963 < 4; k495963++) { asm volatile("cp.async.bulk.commit_group;"); i0 = atomicInc((unsigned *)gi + (i1 & 1023), u2); asm volatile("griddepcontrol.wait;"); i2 += k495963; }
    asm volatile("barrier.cluster.wait;");
    if (blockIdx.x == 0 || i2 == 3) { asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 64, [%2];" :: "r"((unsigned)__cvta_generic_to_shared(s)), "l"(gi), "r"((unsigned)__cvta_generic_to_shared(&mb)) : "memory"); i1 = atomicAdd(gi + 1, 1); asm volatile("griddepcontrol.wait;"); atomicAdd(gd + (i1 & 511), d1); }
    asm volatile("cp.async.wait_group 2;");
    gf[i3] = f0 + f1 + f2;
    gi[i3 + 1] = u0 ^ u1 ^ u2;
    gd[i3] = d0 + d1;
}
