#include <cuda_fp16.h>
__device__ __noinline__ float square(float x) { return x * x + 7; }
__global__ void k(float *p, __half2 *h, int n)
{
    if (n > 3)
        return;
    h[n] = __hmin2(h[0], __float2half2_rn(square(p[3])));
    p[n] = square(p[0]) + (p[4] < p[5] && n > 1 ? 1 : 2);
    p[n + 1] = square(p[2]);
}
__global__ void d(double *q, float *p, int n)
{
    double x = q[0], y = q[1];
    x = x * y + x;
    x = x * x + y;
    p[n] = square(p[0]) + (float)x;
    q[n + 1] = square(p[1]) * x;
}
