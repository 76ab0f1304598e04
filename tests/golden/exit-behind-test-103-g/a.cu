__global__ void k(double *p, float *q, double a, double b, int n, long l, long m, float f, float g)
{
    double x = p[threadIdx.x], y = p[1] * a, z = q[2];
    __syncthreads();
    if (f > 0)
        return;
    if ((int)threadIdx.x < n || f < g || y > 0)
        return;
    q[6] = f * g;
    f += g;
    if (z <= 1 || z + x - (z + y) < 0)
        return;
    p[3] = x + y;
    p[4] = z;
    q[5] = f + n;
}
