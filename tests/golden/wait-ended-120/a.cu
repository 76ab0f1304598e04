/* What the input waits for without a rule, after another wait has ended it in the output. */
#include <cuda_fp16.h>

extern "C" __global__ void k(int *gi, float *gf, double *gd, int n, float x)
{
    int i0 = threadIdx.x, i2 = gi[threadIdx.x], i3 = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned u0 = i2, u1 = i3, u2 = n * 3;
    long long l0 = i2, l1 = n;
    float f0 = gf[threadIdx.x];
    double d0 = f0, d1 = n;
    atomicAdd(gf, 1.0f);
    for (int k = 0; k < n; k++) {
        i0 = atomicAdd(gi + 2, 1);
        i3 = atomicInc((unsigned *)gi + (i3 & 1023), u2);
        i0 = atomicCAS(gi + (i2 & 1023), i3, i2);
        f0 = gf[i2 & 1023];
        i2 += k;
    }
    gi[i3 + 1] = u0 ^ u1 ^ u2;
    gd[i3 + 9] = l0 + l1;
    gf[i0] = n + x;
    gd[i3] = d0 + d1;
}
