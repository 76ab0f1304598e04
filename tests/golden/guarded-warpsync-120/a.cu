#include <cuda_fp8.h>
__constant__ int cst[64]; __constant__ float cf[16];

extern "C" __global__ void k1(int *gi, float *gf, double *gd, int n, float x, cudaTextureObject_t to, cudaSurfaceObject_t so)
{
    __shared__ __align__(128) int s[256]; __shared__ float sf[128]; __shared__ double sd[64]; __shared__ unsigned long long mb; int a[16]; float fa[8]; for (int q = 0; q < 16; q++) a[q] = n; for (int q = 0; q < 8; q++) fa[q] = x; int i0 = threadIdx.x, i1 = n, i2 = gi[threadIdx.x], i3 = blockIdx.x * blockDim.x + threadIdx.x; unsigned u0 = i2, u1 = i3, u2 = n * 3; long long l0 = i2, l1 = n; float f0 = gf[threadIdx.x], f1 = x, f2 = i0; double d0 = f0, d1 = n; __half2 h0 = __float2half2_rn(f0), h1 = __float2half2_rn(x); __nv_bfloat162 b0 = __float2bfloat162_rn(x);
    for (int k420930 = 0; k420930 < i1; k420930++) { ((int4 *)gi)[i1 & 255] = make_int4(i3, i1, i2, i1); i2 += k420930; }
    d0 = gd[i2 & 511];
    if (h0.x > h1.y || f2 < x) { a[i1 & 15] = i0; i2 = __syncthreads_count(i0 > 0); gf[i3 & 1023] = f2; }
    gd[i3] = d0 + d1;
}
