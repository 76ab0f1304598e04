__device__ float heavy(float *p)
{
    float v[40], s = 0;
#pragma unroll
    for (int i = 0; i < 40; i++)
        v[i] = ((volatile float *)p)[i];
#pragma unroll
    for (int i = 0; i < 40; i++)
        s = s * v[39 - i] + v[i];
    return s;
}
__global__ void __maxnreg__(80) k4(float *p)
{
    p[2] = heavy(p);
}
