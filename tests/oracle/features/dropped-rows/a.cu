#include "exp.cuh"
__global__ void k(double *p, double t, int n)
{
    int i = threadIdx.x;
    if (i >= n)
        return;
    double l = p[i];
    p[1 * n + i] = e(20.357 + 2093.971 * t);
    p[2 * n + i] = e(41.352 - 1.258 * l);
    p[3 * n + i] = e(33.335 - 2.770 * l);
    p[4 * n + i] = e(21.274 - 2.390 * l);
    p[5 * n + i] = e(20.020 - 2.774 * l);
    p[6 * n + i] = 8.1e+13;
}
