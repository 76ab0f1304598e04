#include <cuda_fp8.h>

extern "C" __global__ void k3(int *gi, float *gf, double *gd, int n, float x, cudaTextureObject_t to, cudaSurfaceObject_t so)
{
    __shared__ __align__(128) int s[256]; __shared__ float sf[128]; __shared__ double sd[64]; __shared__ unsigned long long mb; int a[16]; float fa[8]; for (int q = 0; q < 16; q++) a[q] = n; for (int q = 0; q < 8; q++) fa[q] = x; int i0 = threadIdx.x, i1 = n, i2 = gi[threadIdx.x], i3 = blockIdx.x * blockDim.x + threadIdx.x; unsigned u0 = i2, u1 = i3, u2 = n * 3; long long l0 = i2, l1 = n; float f0 = gf[threadIdx.x], f1 = x, f2 = i0; double d0 = f0, d1 = n; __half2 h0 = __float2half2_rn(f0), h1 = __float2half2_rn(x); __nv_bfloat162 b0 = __float2bfloat162_rn(x);
    { float4 v = tex2Dgather<float4>(to, f1, f1, 1); f0 = v.y; }
    f1 = tex2D<float>(to, f2, f1);
    f2 = tex2DLod<float>(to, f1, f1, f0);
    __nanosleep(u0);
    i3 = i3 / (i3 | 1);
    switch (i1 & 3) { case 0: f0 = tex2D<float>(to, f2, f2); break; case 1: f1 = tex1Dfetch<float>(to, i0); case 2: surf2Dread(&i0, so, i3, i0); break; default: asm volatile("fence.proxy.async;"); }
    ((__half2 *)gi)[i3] = h0;
    gf[i3] = f0 + f1 + f2;
    gi[i3 + 1] = u0 ^ u1 ^ u2;
}
