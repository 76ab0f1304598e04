/* Minimums in loops with exits: their lines are those of what the finalizer made last. */
#include <cuda_fp16.h>

extern "C" __global__ void k(int *gi, float *gf, int n, float x)
{
    int i0 = threadIdx.x, i1 = n, i2 = gi[threadIdx.x], i3 = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned u0 = i2, u2 = n * 3;
    float f0 = gf[threadIdx.x], f1 = x, f2 = i0;
    __half2 h0 = __float2half2_rn(f0);
    for (int k = 0; k < n; k++) {
        i0 = __viaddmax_s32(i2, i2, i2);
        for (int j = 0; j < 4; j++) {
            i2 = __vimax3_s32_relu(i1, i1, i3);
            i3 = __viaddmax_s32(i2, i3, i3);
            i2 += j;
        }
        if (threadIdx.x < 32) return;
        if (n > 9) return;
        i2 += k;
    }
    if (h0.x > h0.y || f1 < x) {
        while (f2 < f1) {
            { bool p, q; u2 = __vibmax_s16x2(u0, u2, &p, &q); if (p) i2 += q; }
            if (!n--) break;
        }
    } else {
        ((int4 *)gi)[i3 & 255] = make_int4(i2, i2, i2, i0);
    }
    gi[i3] = i0 + i1 + i2 + i3;
    gf[i3] = f0 + f1 + f2;
    gi[i3 + 1] = u0 ^ u2;
}
