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
    asm volatile("barrier.sync %0;" :: "r"(u1 & 7));
    if (blockIdx.x == 0 || i3 == 3) { { int p; asm volatile("{ .reg .pred q; elect.sync _|q, -1; selp.b32 %0, 1, 0, q; }" : "=r"(p)); i2 += p; } if (i0 == 17) printf("%d %f\n", i3, f0); d1 = quotient(d0, i2); i2 = ((signed char *)gi)[i0 & 4095]; } else { asm volatile("cp.async.bulk.commit_group;"); }
    u1 = __vcmpgts2(u0, u1);
    for (int k764720 = 0; k764720 < i1; k764720++) { fa[i2 & 7] = f1; gd[i3 & 511] = d0; u2 = __vadd4(u2, u2); i2 += k764720; }
    while (d0 > d0 && i1 < n) { asm volatile("barrier.cluster.wait;"); i0 = helper(i3, f2); gf[i3 & 1023] = f2; if (!n--) break; }
    i3 = __clz(i2);
    i1 = helper(i2, f1);
    gd[i3] = d0 + d1;
}
