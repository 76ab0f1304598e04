#include <cuda_fp8.h>
__constant__ int cst[64];
__constant__ float cf[16];

extern "C" __global__ void k0(int *gi, float *gf, double *gd, int n, float x,
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
    if (i3 >= n)
        return;
    if (h1.x > h0.y || f2 < x) {
        for (int k51379 = 0; k51379 < 4; k51379++) {
            f1 = fminf(f0, f2);
            f1 = fa[i3 & 7];
            if (h1.x > h1.y || f1 < x)
                return;
            f1 = __ldg(gf + (i2 & 1023));
            i2 += k51379;
        }
        f1 = tex1Dfetch<float>(to, i3);
        gd[i0 & 511] = d1;
        f0 = fmaf(f2, f2, f0);
    }
    i3 = gi[i2 & 1023];
    for (int k11500 = 0; k11500 < n; k11500++) {
        if (threadIdx.x < 32) {
            f0 = tex2DLod<float>(to, f2, f2, f0);
            surf2Dwrite(i0, so, i2, i2);
            i2 += cst[i3 & 63];
        } else {
            i0 = gi[i3 & 1023];
            gd[i3 & 511] = d1;
            {
                float4 v = tex2Dgather<float4>(to, f2, f0, 1);
                f2 = v.y;
            }
            if (l1 != l0)
                return;
        }
        gi[i2 & 1023] = i2;
        i2 += k11500;
    }
    gi[i1 & 1023] = i1;
    gd[i3] = d0 + d1;
    gf[i3] = f0 + f1 + f2;
    gf[i0] = a[0] + fa[3];
    gi[i3 + 1] = u0 ^ u1 ^ u2;
}
