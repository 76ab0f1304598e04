// Drawn at random.
#include <cuda_fp16.h>
__constant__ float table[64];

extern "C" __global__ void store_behind_constant(float *pf, double *pd, long long *pl, unsigned *pu,
                                                 __half2 *ph, short *pc, int n, int m,
                                                 cudaTextureObject_t tx)
{
    __shared__ short shc[64];
    float loc[8] = {0};
    float4 q4 = {};
    int t = threadIdx.x + blockIdx.x * 64;
    short c0 = (short)3;
    short c1 = (short)3;
    int i = m;
    do {
        pc[t + 64] = c0;
        if (i == m) {
            if (i == m) {
                switch (((int)((long long)(c1)) & 63) & 3) {
                case 0:
                    loc[((int)((long long)(c1)) & 63) & 7] = (float)(c0);
                    break;
                case 1:
                    break;
                case 2:
                    c0 = c1 * c0;
                }
                shc[t & 63] = c0;
                c1 = c1 * c0;
            }
            for (int j1 = 0; j1 < 4; j1++) {
                atomicAdd(pu + ((int)((long long)(c1)) & 63), (unsigned)(c0));
                c1 = c1 + c0;
            }
        }
        loc[((int)((long long)(c1)) & 63) & 7] = (float)(c0);
        c0 = (short)(table[((int)((long long)(c0)) & 63)]);
        c1 = c0 * c1;
        for (int j0 = 0; j0 < 4; j0++) {
            c0 = c0 ^ c0;
            ((float4 *)pf)[t + 99] = make_float4(q4.y, (float)i, q4.z, (float)(c0));
            __syncthreads();
        }
        c0 = (short)(table[i & 63]);
    } while (i-- > 0);
    pc[t + 0] = c0;
    pc[t + 9] = c1;
    if (m == 77)
        pf[5] = loc[n & 7] + q4.x;
}
