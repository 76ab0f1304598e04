extern "C" __global__ void sums(double *z, float *x, int *y, int n, int m, double d)
{
    __shared__ double sh[64];
    int t = threadIdx.x, b = m, j = 0; double w = d, v = d * 3, u = 2;
    for (int i = 0; i < m; i++) {
        v = x[i];
        if (w > v) {
            v = (exp((double)(1.5)) - ((double)b + (1.5 * (double)i)));
            if (b & 1) {
                if (t < j) {
                    v += w * d;
                    u = ((double)i + w);
                    v = (1 / (z[b & 7]) * ((x[i] * w) - 1.5));
                    w = z[b & 7];
                }
                x[t] = (x[i] * z[b & 7]);
            } else {
                if (b & 1) {
                    w = v;
                    b += y[t];
                    v += w * d;
                }
                if (u < 1.5) {
                    w = (fma((double)(z[b & 7]), d, w) * (double)b);
                    u = ((double)j * ((w * x[i]) + x[i]));
                    v += w * d;
                    b += y[b & 15];
                }
                v += w * d;
            }
            if (t < j) {
                u = 1 / (((double)b * (w * w)));
                x[t] = (((w * w) - (float)(d)) + d);
                z[b] = w;
            }
            w = (((double)j * 1.5) + x[i]);
        } else {
            w = 1.5;
            w = v;
        }
        w = (int)((v - w));
        for (int j0 = 0; j0 < b; j0++) {
            j = j0;
            u = ((w + (1.5 * v)) * ((1.5 - x[i]) * ((double)b + d)));
            w = (float)((1.5 * (x[i] * (double)i)));
        }
    }
    z[t] = w; z[t + n] = v; y[t] = b + j;
}
