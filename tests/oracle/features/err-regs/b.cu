__device__ float hungry(float *p)
{
    float v[100], s = 0;
#pragma unroll
    for (int i = 0; i < 100; i++)
        v[i] = ((volatile float *)p)[i];
#pragma unroll
    for (int i = 0; i < 100; i++)
        s = s * v[99 - i] + v[i];
    return s;
}
