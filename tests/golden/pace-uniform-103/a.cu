extern "C" __global__ void sums(double *z, float *x, int *y, int n, int m, double d)
{
    __shared__ double sh[64];
    int t = threadIdx.x, b = m, j = 0; double w = d, v = n, u = 2;
    int i = t; if (i < n) {
        w = rint((double)(((d * 1.5) * ((double)b * u))));
        for (int j0 = 0; j0 < m; j0++) {
            if (w == 7) break;
            j = j0;
            b += y[t];
            if (u < sin((double)((double)i))) {
                if (u < (1 / ((double)b) * (double)b)) {
                    v += w * d;
                    v += w * d;
                }
                if (w > v) {
                    v = ((double)i * ((int)(d) * sqrt((double)(1.5))));
                    z[i] = (1.5 * w);
                    u = sqrt((double)(d));
                    w = (__drcp_rn((z[b & 7] - d)) - (z[b & 7] + (x[i] * (double)b)));
                }
                if (t < j) {
                    v += w * d;
                    w = (fmin((double)((z[b & 7] * (double)j)), v) * 1.5);
                    v = ((w + (u * z[b & 7])) + d);
                    v = v;
                }
                v = (double)i;
            }
            v = (x[i] * d);
            u = u;
        }
        w += sh[i & 63];
    }
    z[t] = w; z[t + n] = v; if (t > 7) return; z[m] = u; y[m] = j;
}
