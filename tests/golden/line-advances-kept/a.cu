/* Lane-wise maxima whose rows of lines the compiler dropped in part. */
#include <cuda_fp16.h>

extern "C" __global__ void k(int *gi, float *gf, double *gd, int n, float x)
{
    int i0 = threadIdx.x, i1 = n, i2 = gi[threadIdx.x], i3 = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned u0 = i2, u1 = i3, u2 = n * 3;
    u2 = __vimin3_u16x2(u1, u0, u1);
    { bool p, q; u0 = __vibmax_s16x2(u0, u1, &p, &q); if (p) i0 += q; }
    { bool p, q; u0 = __vibmax_s16x2(u1, u2, &p, &q); if (p) i1 += q; }
    u2 = __vimin3_u16x2(u0, u0, u0);
    gi[i3] = i0 + i1 + i2 + i3;
    gi[i3 + 1] = u0 ^ u1 ^ u2;
}
