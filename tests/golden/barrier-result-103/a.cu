#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>
__constant__ int cst[64]; __constant__ float cf[16];
__device__ __noinline__ int helper(int a, float b) { return a * 3 + (int)b; }
__device__ __noinline__ double quotient(double a, int b) { return a / b; }
extern "C" __global__ void k13(int *gi, float *gf, double *gd, int n, float x, cudaTextureObject_t to, cudaSurfaceObject_t so)
{
    __shared__ __align__(128) int s[256]; __shared__ float sf[128]; __shared__ double sd[64]; __shared__ unsigned long long mb; int a[16]; float fa[8]; for (int q = 0; q < 16; q++) a[q] = n; for (int q = 0; q < 8; q++) fa[q] = x; int i0 = threadIdx.x, i1 = n, i2 = gi[threadIdx.x], i3 = blockIdx.x * blockDim.x + threadIdx.x; unsigned u0 = i2, u1 = i3, u2 = n * 3; long long l0 = i2, l1 = n; float f0 = gf[threadIdx.x], f1 = x, f2 = i0; double d0 = f0, d1 = n; __half2 h0 = __float2half2_rn(f0), h1 = __float2half2_rn(x); __nv_bfloat162 b0 = __float2bfloat162_rn(x); unsigned short q0 = n, q1 = 7;
    u0 = atomicDec((unsigned *)gi + (i0 & 1023), u2);
    asm volatile("fence.proxy.async.global;" ::: "memory");
    f0 = sf[i1 & 127];
    if (blockIdx.x == 0 || i3 == 3) return;
    if (i3 > n && f0 > 1.0f) return;
    l1 = atomicAdd((unsigned long long *)gd + (i0 & 511), (unsigned long long)l0);
    if (n > 9) { i3 = __syncthreads_count(i3 > 0); asm volatile("fence.sc.gpu;" ::: "memory"); d0 = atomicAdd(gd + (i0 & 511), d0); i1 = __syncthreads_or(i1); }
    i3 = atomicMax(&s[i1 & 255], i0);
    if (i0 > i0) { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
    for (int k864909 = 0; k864909 < 4; k864909++) { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); i2 += k864909; }
    l1 = atomicAdd((unsigned long long *)gd + (i0 & 511), (unsigned long long)l1);
    b0 = atomicAdd((__nv_bfloat162 *)gi + (i3 & 1023), b0);
    gi[i3 + 1] = u0 ^ u1 ^ u2; ((__half2 *)gi)[i3] = h0; gd[i3] = d0 + d1; gf[i0] = a[0] + fa[3]; gd[i3 + 9] = l0 + l1; gf[i3] = f0 + f1 + f2; gi[i3] = i0 + i1 + i2 + i3; gi[i0 + 5] = q0;
}
