// Doubles around calls, branches, divisions, conversions.
extern __device__ double outside(double x, int n);

__device__ __noinline__ double inside(double x, double y)
{
    return x * y + x;
}

extern "C" __global__ void calls(double *a, double b)
{
    double x = a[threadIdx.x];
    a[threadIdx.x] = inside(x + b, x) * outside(x, 3);
}

extern "C" __global__ void branches(double *a, double b, int n)
{
    double x = a[threadIdx.x];
    if (x > b)
        a[threadIdx.x + 32] = x * b;
    else if (threadIdx.x > n)
        a[threadIdx.x + 64] = x + b;
}

extern "C" __global__ void division(double *a, double b)
{
    a[threadIdx.x] = a[threadIdx.x] / b;
}

extern "C" __global__ void root(double *a)
{
    a[threadIdx.x] = sqrt(a[threadIdx.x]);
}

extern "C" __global__ void conversions(double *a, float *f, int *i, long long *l)
{
    a[threadIdx.x] = f[threadIdx.x];
    i[threadIdx.x] = (int)a[threadIdx.x + 32];
    l[threadIdx.x] = (long long)f[threadIdx.x + 32] / 3;
    f[threadIdx.x] = exp2f(f[threadIdx.x + 64]) + exp2f(f[threadIdx.x + 96]);
    i[threadIdx.x + 32] = __popc(i[threadIdx.x + 64]) + __clz(i[threadIdx.x + 96]);
}
