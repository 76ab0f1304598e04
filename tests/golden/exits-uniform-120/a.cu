// Arithmetic on uniform floats in front of an exit, whose result is needed behind it.
__global__ void uniform(float *o, float a, float b, float c, int n, int m, float e)
{
    float v = (b - c - fmaxf(b, b)) * (b + a + 2.39f * a), u = 0;
    for (int j = 0; j < m; j++)
        u = (int)(v < 4.12f ? 4.12f : c);
    if (m < 3)
        return;
    float w = powf(4.89f, a);
    o[threadIdx.x] = 4.12f + threadIdx.x;
    o[threadIdx.x + 100] = v + threadIdx.x;
    o[threadIdx.x + 200] = u + threadIdx.x;
    o[threadIdx.x + 300] = w * o[threadIdx.x];
}
