__global__ void k(double *p, const float *q, double a, double b, int n, float f, float g)
{
    double x = p[threadIdx.x], y = p[1] * a, z = q[2];
    p[0] = y;
    for (int i = 0; i < n; i++) {
        z = x * a + z * x - y;
        if (x + y + b * z != b * y * (y - a) && y < b)
            return;
    }
    f += g;
    if (f > 0 && y + z - (z - z) < 0)
        return;
    if (f > g && z + z + (y - x) <= 1)
        return;
    p[3] = x + y;
    p[4] = z;
}
