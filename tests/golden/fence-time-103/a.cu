#include <cuda_fp8.h>

extern "C" __global__ void k1(int *gi, float *gf, double *gd, int n, float x,
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
    u1 = __viaddmin_s16x2(u2, u0, u2);
    if (threadIdx.x < 32) {
        asm volatile("st.release.sys.u32 [%0], %1;" ::"l"(gi + (i1 & 1023)), "r"(u2));
    }
    while (i0 > i3) {
        for (int k260131 = 0; k260131 < n; k260131++) {
            u2 = __viaddmin_s16x2(u1, u0, u2);
            i2 += k260131;
        }
        asm volatile("st.release.sys.u32 [%0], %1;" ::"l"(gi + (i1 & 1023)), "r"(u1));
        {
            bool p, q;
            u2 = __vibmax_s16x2(u0, u1, &p, &q);
            if (p)
                i3 += q;
        }
        if (!n--)
            break;
    }
    if (d0 > d1 && i1 < n) {
        asm("cvt.rni.sat.s8.f32 %0, %1;" : "=r"(i2) : "f"(f1));
        f1 = __expf(f2);
        {
            bool p, q;
            u2 = __vibmax_s16x2(u1, u1, &p, &q);
            if (p)
                i0 += q;
        }
    } else {
        i0 = __vimax3_s32_relu(i1, i0, i0);
    }
    gi[i3 + 1] = u0 ^ u1 ^ u2;
    gd[i3] = d0 + d1;
    gd[i3 + 9] = l0 + l1;
}
