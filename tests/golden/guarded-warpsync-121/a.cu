#include <cuda_fp8.h>

extern "C" __global__ void k2(int *gi, float *gf, double *gd, int n, float x,
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
    {
        bool p, q;
        u0 = __vibmax_s16x2(u1, u1, &p, &q);
        if (p)
            i1 += q;
    }
    for (int k935197 = 0; k935197 < 4; k935197++) {
        u1 = __vimin3_u16x2(u0, u2, u0);
        i2 = __syncthreads_count(i3 > 0);
        d1 = i2;
        {
            float4 v = ((float4 *)gf)[i0 & 255];
            f1 = v.x + v.y;
            f2 = v.z * v.w;
        }
        i2 += k935197;
    }
    ((int4 *)gi)[i1 & 255] = make_int4(i0, i1, i1, i2);
    i0 = (int)d0;
    if (blockIdx.x == 0 || i3 == 3) {
        i3 = __syncthreads_or(i2);
        u1 = __vimin3_u16x2(u2, u2, u2);
        i2 = __viaddmax_s32(i0, i3, i0);
        d1 = fma(d1, d1, d0);
    } else {
        gi[i1 & 1023] = i1;
        {
            bool p, q;
            u1 = __vibmax_s16x2(u1, u2, &p, &q);
            if (p)
                i0 += q;
        }
        i1 = (int)d0;
    }
    if (i3 > n && f2 > 1.0f) {
        d0 = exp(d0);
        l1 = (long long)((__int128)l1 * l0 >> 64);
    } else {
        if (i2 > n && f0 > 1.0f) {
            if (blockIdx.x == 0 || i3 == 3)
                return;
        }
        i1 = __vimax3_s32_relu(i3, i3, i1);
    }
    u1 = __vimin3_u16x2(u0, u0, u0);
    gi[i3 + 1] = u0 ^ u1 ^ u2;
}
