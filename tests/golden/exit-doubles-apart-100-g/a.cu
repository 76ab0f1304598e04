__global__ void k(double *p, float *q, double a, double b, int i, float f, float g)
{
    double x = a, y = p[1];
    p[3] = x + a;
    y = x - y;
    if (x != a || f < g)
        return;
    p[7] = x;
    q[9] = f + i;
    p[8] = y;
}
