#include <cuda_fp8.h>

extern "C" __global__ void k5(int *gi, float *gf, double *gd, int n, float x,
                              cudaTextureObject_t to, cudaSurfaceObject_t so)
{
    __shared__ __align__(128) int s[256];
    __shared__ float sf[128];
    __shared__ double sd[64];
    __shared__ unsigned long long mb;
    int a[16];
    float fa[8];
    for (int q = 0; q < 16; q++)
        a[q] = n;
    for (int q = 0; q < 8; q++)
        fa[q] = x;
    int i0 = threadIdx.x, i1 = n, i2 = gi[threadIdx.x], i3 = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned u0 = i2, u1 = i3, u2 = n * 3;
    long long l0 = i2, l1 = n;
    float f0 = gf[threadIdx.x], f1 = x, f2 = i0;
    double d0 = f0, d1 = n;
    __half2 h0 = __float2half2_rn(f0), h1 = __float2half2_rn(x);
    __nv_bfloat162 b0 = __float2bfloat162_rn(x);
    for (int k537839 = 0; k537839 < i1; k537839++) {
        i1 = __reduce_add_sync(~0u, i1);
        f1 = __bfloat162float(b0.x);
        u0 = __ballot_sync(~0u, i2 > 0);
        if (h1.x > h1.y || f0 < x) {
            i3 = atomicInc((unsigned *)gi + (i1 & 1023), u0);
        } else {
            d0 = gd[i2 & 511];
        }
        i2 += k537839;
    }
    for (int k219984 = 0; k219984 < n; k219984++) {
        u1 = __activemask();
        if (l1 != l0) {
            i1 = __reduce_add_sync(~0u, i2);
            f0 = __shfl_down_sync(~0u, f2, i3 & 31);
            if (__any_sync(~0u, i0 > 3))
                i3++;
            gd[i3 & 511] = d1;
        } else {
            atomicAdd(gf, 1.0f);
        }
        {
            float4 v = ((float4 *)gf)[i0 & 255];
            f2 = v.x + v.y;
            f1 = v.z * v.w;
        }
        b0 = __hfma2(b0, b0, __float22bfloat162_rn(make_float2(f0, f2)));
        i2 += k219984;
    }
}
