// A loop that ends early (`continue`): the block that adds doubles waits for a parameter, whose number the sum's sources
// take, too.
__constant__ float table[64];

extern "C" __global__ void sources_behind_constant(float *out, double *sums, int n, int m)
{
    __shared__ double part[64];
    float place[8] = {0};
    int t = threadIdx.x + blockIdx.x * 64;
    double a = sums[n];
    double b = sums[t];
    double c = 2.25;
    int i = m;
    do {
        a = a + part[t & 63];
        if (i > m)
            continue;
        part[t & 63] = b;
        a = c > a ? 1.0 : 3.0;
        c = (double)table[(int)(unsigned)a & 63];
    } while (i-- > 0);
    sums[t] = a;
    sums[t + 9] = b;
    sums[t + 18] = c;
    if (m == 77)
        out[5] = place[n & 7];
}
