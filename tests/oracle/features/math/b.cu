__device__ float fslow(float x)
{
    return sinf(x) + cosf(x) / x + sqrtf(x);
}
__device__ double dslow(double x)
{
    return sin(x) + x / 3.7 + sqrt(x) + erf(x);
}
__global__ void i(long long *p)
{
    p[0] = p[1] / p[2] + p[3] % p[4];
}
