// An exit whose barrier goes waits for a result in a uniform register, before it is due.
__global__ void late(float *o, const int *p, int n, int m, int w)
{
    __shared__ float s[4096];
    int t = threadIdx.x;
    float a = n, b = 1, c = 2, d = 3;
    int x = t;
    if (t < n) {
        b += s[x + 0];
        d += s[x + 32];
    }
    __syncthreads();
    if (t == 0) {
        c = s[x + 0];
        b += s[x + 128];
    }
    __syncthreads();
    if (t > n)
        return;
    if (t < 32) {
        b = s[x + 0];
        a += s[x + 128];
    }
    if (x > m) {
        s[x + 0] = c;
    }
    __syncthreads();
    if (t > 32 && n < m)
        return;
    s[x + 0] = c;
    s[x + 0] = b;
    s[x + 0] = d;
    x = t * n;
    o[x * 4] = a;
    o[x + n] = b;
    o[x + 7 * n] = c;
    o[x + 9] = d;
}
