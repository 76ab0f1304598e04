__global__ void k(double *p, const float *q, double a, double b, float f, float g)
{
    double x = p[threadIdx.x], y = p[1] * a, z = q[2];
    p[2] = b * x - z - y * y * (a + a);
    if (f > g && x > 0)
        return;
    if (y + x == 1 && x - y + y * b < 0)
        return;
    z = sqrt(y + (b * a + y * a));
    __syncthreads();
    if (x != 1)
        return;
    if (x < b)
        return;
    p[3] = x + y;
    p[4] = z;
}
