// Drawn at random: stores to local memory in loops keep their number where the block of an early exit begins, in which
// two stores take it, too.
#include <cuda_runtime.h>

__constant__ float table[64];

extern "C" __global__ void stores_before_exit(float *out, int n, int m, cudaTextureObject_t image)
{
    __shared__ float part[64];
    float place[8] = {0};
    int t = threadIdx.x;
    float a = out[t];
    float b = out[t];
    int i = m;
    do {
        for (int j = 0; j < m; j++) {
            for (int k = 0; k < 4; k++) {
                place[((int)(unsigned)a & 63) & 7] = b;
                part[t & 63] = a;
                if (i == m) {
                    a = out[(int)(unsigned)a & 63];
                    a = tex1Dfetch<float>(image, (int)(unsigned)b & 63);
                } else {
                    a = a + part[63 - (t & 63)];
                }
                b = out[t * 4 + i];
            }
            a = out[(int)(unsigned)b & 63];
            b = ldexpf(b, 3) + a;
            if ((double)a > 2.25) {
                b = b + part[63 - (t & 63)];
                if (i == m) {
                    b = table[i & 63];
                    if (t + i >= n)
                        return;
                }
                place[((int)(unsigned)a & 63) & 7] = b;
                if (i > 9 && t < m)
                    return;
            } else {
                a = copysignf(a, b);
            }
        }
        a = fmaf(b, b, 0.5f);
    } while (i-- > 0);
    out[t] = a;
    out[t + 9] = b;
    if (m == 77)
        out[5] = place[n & 7];
}
