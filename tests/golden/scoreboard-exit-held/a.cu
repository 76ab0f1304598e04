/* An exchange in a loop whose number a constant of the block before held: at the exit that is not there yet. */
#include <cuda_fp16.h>

extern "C" __global__ void k4(int *gi, float *gf, double *gd, int n, float x)
{
    int i0 = threadIdx.x, i1 = n, i2 = gi[threadIdx.x], i3 = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned u0 = i2, u1 = i3, u2 = n * 3;
    long long l0 = i2, l1 = n;
    float f0 = gf[threadIdx.x], f1 = x, f2 = i0;
    double d0 = f0, d1 = n;
    __half2 h0 = __float2half2_rn(f0);
    u2 = __viaddmin_s16x2(u2, u1, u2);
    u1 = __funnelshift_l(u2, u2, u2);
    u0 = __usad(u0, u1, u2);
    u1 = (u0 << (i2 & 31)) | (u2 >> 5);
    u0 = __vimin3_u16x2(u0, u0, u1);
    for (int k = 0; k < i1; k++) {
        if (i3 > i3) {
            i3 = __viaddmax_s32(i0, i3, i2);
            { bool p, q; u0 = __vibmax_s16x2(u1, u1, &p, &q); if (p) i1 += q; }
            if (d0 > d0 && i2 < n) return;
            u1 = __activemask();
        } else {
            i0 = __shfl_xor_sync(~0u, i2, 2);
            u2 = __vimin3_u16x2(u2, u2, u1);
            d1 = __shfl_up_sync(~0u, d1, 1);
            if (i2 > n && f1 > 1.0f) return;
        }
        i2 += k;
    }
    u0 = __vimin3_u16x2(u2, u0, u0);
    ((__half2 *)gi)[i3] = h0;
    gf[i3] = f0 + f1 + f2;
    gi[i3] = i0 + i1 + i2 + i3;
    gd[i3 + 9] = l0 + l1;
    gi[i3 + 1] = u0 ^ u1 ^ u2;
}
