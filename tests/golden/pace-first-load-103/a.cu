extern "C" __global__ void roots(float *out, int n, int m, double d)
{
    double w = d * n;
    if (n == 7)
        w = sqrt(w);
#pragma unroll 1
    for (int i = threadIdx.x; i < n; i += m)
        out[i] = (float)w;
}
