// Exits with a second predicate: conditions joined by "and" whose both sides are known late.
__global__ void both(int *p, int a, int b)
{
    if (threadIdx.x > a && blockIdx.x > b)
        return;
    p[threadIdx.x] = 1;
}
__global__ void loaded(int *p, int a, int b)
{
    int v = p[5];
    if (v > a && blockIdx.x > b)
        return;
    p[threadIdx.x] = v;
}
__global__ void three(int *p, int a, int b)
{
    if (threadIdx.x > a && blockIdx.x > b && p[7] == 3)
        return;
    p[threadIdx.x] = 1;
    if (a < b && p[0])
        return;
    p[1] = 2;
}
__global__ void floats(float *p, float a, float b)
{
    float x = p[threadIdx.x];
    if (x > a && b < x)
        return;
    p[threadIdx.x] = x * a + b;
    if (x < 3 && !(p[9] > b))
        return;
    p[77] = x;
}
