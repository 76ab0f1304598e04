__device__ float mix(float *p);
__global__ void k(float *p)
{
    float a[24];
#pragma unroll
    for (int i = 0; i < 24; i++)
        a[i] = ((volatile float *)p)[i];
    p[0] = mix(p);
#pragma unroll
    for (int i = 0; i < 24; i++)
        p[i] = a[23 - i];
}
