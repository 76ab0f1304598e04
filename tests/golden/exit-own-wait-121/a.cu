__global__ void k(double *p, const double *q, double a, double b, int n)
{
    double x = p[threadIdx.x], y = p[1] * a;
    if (b < 0 || (int)threadIdx.x > n)
        return;
    p[3] = x / y;
}
