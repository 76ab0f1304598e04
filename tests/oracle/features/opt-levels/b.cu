extern __constant__ int ca;
__device__ double fb(double x, int *p)
{
    return x * 1.23456789 + ca + p[0];
}
