#include <cstdio>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>
__constant__ int cst[64]; __constant__ float cf[16];
__device__ __noinline__ int helper(int a, float b) { return a * 3 + (int)b; }
__device__ __noinline__ double quotient(double a, int b) { return a / b; }

extern "C" __global__ void k1(int *gi, float *gf, double *gd, int n, float x, cudaTextureObject_t to, cudaSurfaceObject_t so)
{
    __shared__ __align__(128) int s[256]; __shared__ float sf[128]; __shared__ double sd[64]; __shared__ unsigned long long mb; int a[16]; float fa[8]; for (int q = 0; q < 16; q++) a[q] = n; for (int q = 0; q < 8; q++) fa[q] = x; int i0 = threadIdx.x, i1 = n, i2 = gi[threadIdx.x], i3 = blockIdx.x * blockDim.x + threadIdx.x; unsigned u0 = i2, u1 = i3, u2 = n * 3; long long l0 = i2, l1 = n; float f0 = gf[threadIdx.x], f1 = x, f2 = i0; double d0 = f0, d1 = n; __half2 h0 = __float2half2_rn(f0), h1 = __float2half2_rn(x); __nv_bfloat162 b0 = __float2bfloat162_rn(x);
    if (i3 >= n) return;
    for (int k160944 = 0; k160944 < i1; k160944++) { __threadfence_system(); gd[i0 & 511] = d1; asm volatile("cp.async.commit_group;"); asm volatile("mbarrier.init.shared.b64 [%0], 32;" :: "r"((unsigned)__cvta_generic_to_shared(&mb))); i2 += k160944; }
    i0 = atomicAdd(gi + (i0 & 1023), i2);
    asm volatile("griddepcontrol.wait;");
    i1 = __popcll(l1);
    if (blockIdx.x == 0 || i1 == 3) return;
    for (int k121466 = 0; k121466 < i1; k121466++) { asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 64, [%2];" :: "r"((unsigned)__cvta_generic_to_shared(s)), "l"(gi), "r"((unsigned)__cvta_generic_to_shared(&mb)) : "memory"); f0 = __ldg(gf + (i1 & 1023)); i2 += k121466; }
    f0 = gf[i0 & 1023];
    gi[i3 & 1023] = i2;
    gd[i3] = d0 + d1;
}
