extern "C" __global__ void sums(double *z, float *x, int *y, int n, int m, double d)
{
    __shared__ double sh[64];
    int t = threadIdx.x, b = m, j = 0; double w = d, v = t, u = 2;
    for (int i = t; i < n; i += m) {
        if (u < w) {
            if (i == m) {
                if (i == m) {
                    v = ((float)((u * (double)i)) * ((z[b & 7] - d) - v));
                }
                if (t < j) {
                    u = floor((double)(((w * x[i]) * x[i])));
                }
                x[i] = v;
                sh[t & 63] = ((int)((z[b & 7] * w)) - 1.5);
            }
            if (b & 1) {
                v = (((w + z[i]) * fmin((double)(d), v)) - (((double)i + (double)b) - (d * u)));
                if (u < (w * __drcp_rn(w))) {
                    v = rint((double)(sqrt((double)(u))));
                }
                if (t < j) {
                    v += w * d;
                    v += w * d;
                    z[t] = (((1.5 * (double)i) + ((double)j + v)) * 1 / (w));
                }
                v += w * d;
            } else {
                v = ((((double)b - v) * rint((double)(d))) * (z[i] - (double)i));
                u = __drcp_rn((double)i);
            }
        }
        if (u < (sqrt((double)(d)) * (double)i)) {
            if (w > v) {
                x[t] = (((double)i * (z[i] + z[b & 7])) * (double)i);
                v = (v * z[i]);
                v = exp((double)(rint((double)((v * z[b & 7])))));
                v += w * d;
            }
        }
    }
    z[t] = w; z[t + n] = v; x[t] = u;
}
