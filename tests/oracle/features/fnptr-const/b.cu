typedef void (*fn1)(int *);
__device__ void inc(int *p)
{
    ++*p;
}
__device__ void dec(int *p)
{
    --*p;
}
__device__ float half_of(float x)
{
    return x * .5f;
}
__constant__ fn1 other[3] = {dec, inc, dec};
