#include <cstdio>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>
__constant__ int cst[64]; __constant__ float cf[16];
__device__ __noinline__ int helper(int a, float b) { return a * 3 + (int)b; }
__device__ __noinline__ double quotient(double a, int b) { return a / b; }

extern "C" __global__ void k3(int *gi, float *gf, double *gd, int n, float x, cudaTextureObject_t to, cudaSurfaceObject_t so)
{
    __shared__ __align__(128) int s[256]; __shared__ float sf[128]; __shared__ double sd[64]; __shared__ unsigned long long mb; int a[16]; float fa[8]; for (int q = 0; q < 16; q++) a[q] = n; for (int q = 0; q < 8; q++) fa[q] = x; int i0 = threadIdx.x, i1 = n, i2 = gi[threadIdx.x], i3 = blockIdx.x * blockDim.x + threadIdx.x; unsigned u0 = i2, u1 = i3, u2 = n * 3; long long l0 = i2, l1 = n; float f0 = gf[threadIdx.x], f1 = x, f2 = i0; double d0 = f0, d1 = n; __half2 h0 = __float2half2_rn(f0), h1 = __float2half2_rn(x); __nv_bfloat162 b0 = __float2bfloat162_rn(x);
    atomicAdd(&s[i0 & 255], i3);
    i3 = a[i1 & 15];
    f0 = gf[i1 & 1023];
    __threadfence();
    if (l1 != l1) return;
    for (int k761946 = 0; k761946 < 4; k761946++) { i3 = atomicAdd(gi + 2, 1); __syncthreads(); gf[i0 & 1023] = f0; if (threadIdx.x < 32) return; i2 += k761946; }
    i1 = atomicMax(&s[i2 & 255], i2);
    asm volatile("bar.arrive 4, 64;");
    i0 = a[i2 & 15];
    if (d0 > d0 && i1 < n) { { int p; asm volatile("{ .reg .pred q; mbarrier.try_wait.parity.shared.b64 q, [%1], %2; selp.b32 %0, 1, 0, q; }" : "=r"(p) : "r"((unsigned)__cvta_generic_to_shared(&mb)), "r"(u1 & 1)); i0 += p; } i0 = atomicCAS(gi + (i2 & 1023), i2, i2); atomicAdd(gi + (i3 & 1023), i3); } else { while (i2 > n && f0 > 1.0f) { gd[i1 & 511] = d1; i1 = atomicInc((unsigned *)gi + (i0 & 1023), u2); asm volatile("barrier.sync %0;" :: "r"(u0 & 7)); f0 = fa[i1 & 7]; if (!n--) break; } atomicAdd((__half2 *)gi + (i0 & 1023), h1); }
    i3 = __syncthreads_count(i1 > 0);
    for (int k218660 = 0; k218660 < i1; k218660++) { gi[i0 & 1023] = i3; d0 = gd[i3 & 511]; i2 += k218660; }
    for (int k374703 = 0; k374703 < i1; k374703++) { i3 = atomicCAS(gi + (i3 & 1023), i1, i1); ((short *)gi)[i1 & 2047] = i0; asm volatile("griddepcontrol.wait;"); i2 += k374703; }
    gf[i0] = a[0] + fa[3];
    gf[i3] = f0 + f1 + f2;
    gi[i3] = i0 + i1 + i2 + i3;
    ((__half2 *)gi)[i3] = h0;
}
