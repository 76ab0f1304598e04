#include <cuda_fp8.h>
__device__ __noinline__ int helper(int a, float b) { return a * 3 + (int)b; }

extern "C" __global__ void k2(int *gi, float *gf, double *gd, int n, float x, cudaTextureObject_t to, cudaSurfaceObject_t so)
{
    __shared__ __align__(128) int s[256]; __shared__ float sf[128]; __shared__ double sd[64]; __shared__ unsigned long long mb; int a[16]; float fa[8]; for (int q = 0; q < 16; q++) a[q] = n; for (int q = 0; q < 8; q++) fa[q] = x; int i0 = threadIdx.x, i1 = n, i2 = gi[threadIdx.x], i3 = blockIdx.x * blockDim.x + threadIdx.x; unsigned u0 = i2, u1 = i3, u2 = n * 3; long long l0 = i2, l1 = n; float f0 = gf[threadIdx.x], f1 = x, f2 = i0; double d0 = f0, d1 = n; __half2 h0 = __float2half2_rn(f0), h1 = __float2half2_rn(x); __nv_bfloat162 b0 = __float2bfloat162_rn(x);
    if (i3 >= n) return;
    surf2Dread(&i0, so, i2, i1);
    f0 = tex2DLod<float>(to, f1, f0, f0);
    for (int k326516 = 0; k326516 < i1; k326516++) { gf[i0 & 1023] = f0; if (u0 & 4) return; i0 = helper(i1, f0); if (i1 == 17) printf("%d %f\n", i2, f2); i2 += k326516; }
}
