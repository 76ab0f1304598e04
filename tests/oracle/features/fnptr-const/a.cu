typedef void (*fn1)(int *);
typedef float (*fn2)(float);
__device__ void inc(int *);
__device__ float half_of(float);
__constant__ fn1 c1[2] = {inc, 0};
__constant__ fn2 c2 = half_of;
extern __constant__ fn1 other[3];
__global__ void k(int *p, float *q, int i)
{
    c1[i](p);
    q[0] = c2(q[1]);
    other[i](p + 1);
}
