// Reads of shared memory, then a barrier of the block directly in front of an exit.
__global__ void one(float *o, const int *p, int n, int w)
{
    __shared__ float s[4096];
    int t = threadIdx.x, x = t + p[t];
    float a = 2;
    if (t < 32)
        a = s[x];
    __syncthreads();
    if (t > w)
        return;
    s[x] = n;
    x = t * n;
    o[x * 4] = a; o[x + n] = 1; o[x + 7 * n] = 3; o[x + 9] = 4;
}

// The same with a second predicate, which wants a longer stall count.
__global__ void two(float *o, int n, int m)
{
    __shared__ float s[4096];
    int t = threadIdx.x, x = t;
    float a = s[x], b = s[x + 64], c = 1;
    __syncthreads();
    if (t > 32 && n < m)
        return;
    x = t * n;
    s[x & 31] = c;
    o[x * 4] = a; o[x + n] = b; o[x + 9] = c;
}
