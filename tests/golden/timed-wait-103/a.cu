#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>
__constant__ int cst[64]; __constant__ float cf[16];
__device__ __noinline__ int helper(int a, float b) { return a * 3 + (int)b; }
__device__ __noinline__ double quotient(double a, int b) { return a / b; }
extern "C" __global__ void k4(int *gi, float *gf, double *gd, int n, float x, cudaTextureObject_t to, cudaSurfaceObject_t so)
{
    __shared__ __align__(128) int s[256]; __shared__ float sf[128]; __shared__ double sd[64]; __shared__ unsigned long long mb; int a[16]; float fa[8]; for (int q = 0; q < 16; q++) a[q] = n; for (int q = 0; q < 8; q++) fa[q] = x; int i0 = threadIdx.x, i1 = n, i2 = gi[threadIdx.x], i3 = blockIdx.x * blockDim.x + threadIdx.x; unsigned u0 = i2, u1 = i3, u2 = n * 3; long long l0 = i2, l1 = n; float f0 = gf[threadIdx.x], f1 = x, f2 = i0; double d0 = f0, d1 = n; __half2 h0 = __float2half2_rn(f0), h1 = __float2half2_rn(x); __nv_bfloat162 b0 = __float2bfloat162_rn(x); unsigned short q0 = n, q1 = 7;
    { int p; asm volatile("{ .reg .pred q; mbarrier.try_wait.shared.b64 q, [%1], %2, 100; selp.b32 %0, 1, 0, q; }" : "=r"(p) : "r"((unsigned)__cvta_generic_to_shared(&mb)), "l"(l1)); i3 += p; }
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"((unsigned)__cvta_generic_to_shared(&s[i3 & 252])), "l"(gi + (i0 & 1023)));
    asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(u1) : "l"(l1));
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 64;" :: "l"(gf + (i1 & 1020)), "r"((unsigned)__cvta_generic_to_shared(&s[i3 & 252])));
    gd[i3 + 9] = l0 + l1; gf[i3] = f0 + f1 + f2; gi[i3] = i0 + i1 + i2 + i3; gi[i3 + 1] = u0 ^ u1 ^ u2; gf[i0] = a[0] + fa[3]; ((__half2 *)gi)[i3] = h0; gi[i0 + 5] = q0;
}

