__global__ void k(double *p, float *q, double a, double b, int i, float f, float g)
{
    double x = a, y = b;
    q[0] = a;
    q[1] = b;
    p[2] = x;
    if (x != a || x + y > a || x * x < y)
        return;
    p[7] = x;
    q[9] = f + i;
    p[8] = y;
}
