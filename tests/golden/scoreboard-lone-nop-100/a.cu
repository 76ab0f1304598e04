#include <cstdio>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>
__constant__ int cst[64]; __constant__ float cf[16];
__device__ __noinline__ int helper(int a, float b) { return a * 3 + (int)b; }
__device__ __noinline__ double quotient(double a, int b) { return a / b; }

extern "C" __global__ void k5(int *gi, float *gf, double *gd, int n, float x, cudaTextureObject_t to, cudaSurfaceObject_t so)
{
    __shared__ __align__(128) int s[256]; __shared__ float sf[128]; __shared__ double sd[64]; __shared__ unsigned long long mb; int a[16]; float fa[8]; for (int q = 0; q < 16; q++) a[q] = n; for (int q = 0; q < 8; q++) fa[q] = x; int i0 = threadIdx.x, i1 = n, i2 = gi[threadIdx.x], i3 = blockIdx.x * blockDim.x + threadIdx.x; unsigned u0 = i2, u1 = i3, u2 = n * 3; long long l0 = i2, l1 = n; float f0 = gf[threadIdx.x], f1 = x, f2 = i0; double d0 = f0, d1 = n; __half2 h0 = __float2half2_rn(f0), h1 = __float2half2_rn(x); __nv_bfloat162 b0 = __float2bfloat162_rn(x);
    asm volatile("griddepcontrol.wait;");
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" :: "r"((unsigned)__cvta_generic_to_shared(&s[(i0 & 31) * 4])), "l"(gi + (i1 & 63) * 4));
    i0 = atomicCAS(gi + (i1 & 1023), i0, i1);
    u1 = __byte_perm(u1, u1, u1);
    for (int k202080 = 0; k202080 < i1; k202080++) { asm volatile("cp.async.bulk.commit_group;"); asm volatile("mbarrier.init.shared.b64 [%0], 32;" :: "r"((unsigned)__cvta_generic_to_shared(&mb))); { int p; asm volatile("{ .reg .pred q; elect.sync _|q, -1; selp.b32 %0, 1, 0, q; }" : "=r"(p)); i1 += p; } l1 = atomicExch((unsigned long long *)gd + (i0 & 511), l0); i2 += k202080; }
    if (f0 < f0) { asm volatile("bar.sync 2, 64;"); l0 = atomicExch((unsigned long long *)gd + (i3 & 511), l0); { int p; asm volatile("{ .reg .pred q; elect.sync _|q, -1; selp.b32 %0, 1, 0, q; }" : "=r"(p)); i1 += p; } asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 64, [%2];" :: "r"((unsigned)__cvta_generic_to_shared(s)), "l"(gi), "r"((unsigned)__cvta_generic_to_shared(&mb)) : "memory"); }
    asm("cvt.rni.sat.s8.f32 %0, %1;" : "=r"(i3) : "f"(f1));
    atomicAdd(gi + 2, i3);
    asm("bmsk.clamp.b32 %0, %1, %2;" : "=r"(u1) : "r"(u2), "r"(u2));
    u0 = __vcmpgts2(u1, u2);
    gd[i3 + 9] = l0 + l1;
    gf[i0] = a[0] + fa[3];
    gd[i3] = d0 + d1;
    gf[i3] = f0 + f1 + f2;
    ((__half2 *)gi)[i3] = h0;
    gi[i3] = i0 + i1 + i2 + i3;
}
