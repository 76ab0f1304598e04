extern "C" __global__ void sums(double *z, float *x, int *y, int n, int m, double d)
{
    __shared__ double sh[64];
    int t = threadIdx.x, b = m, j = 0; double w = d, v = d * 3, u = 2;
    int i = n; {
        w += sh[i & 63];
        z[i] = __drcp_rn((1.5 + (d - u)));
        z[t] = ((((double)j * (double)b) * (u * x[i])) * 1.5);
        for (int j0 = 0; j0 < n; j0++) {
            if (w == 7) break;
            j = j0;
            for (int j1 = 0; j1 < n; j1++) {
                j = j1;
                b += y[i];
                w = d;
            }
            w = (float)(((1.5 * w) + (1.5 * 1.5)));
            if (t < j) {
                u = (((w - x[i]) * (d - u)) + v);
                v += w * d;
                if (b & 1) {
                    u = z[i];
                }
            }
        }
    }
    z[t] = w; z[t + n] = v; x[t] = u;
}
