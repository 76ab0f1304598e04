extern "C" __global__ void sums(double *z, float *x, int *y, int n, int m, double d)
{
    __shared__ double sh[64];
    int t = threadIdx.x, b = m, j = 0; double w = d, v = t, u = 2;
    for (int i = 0; i < m; i++) {
        u = ((sqrt((double)(d)) * v) * 1.5);
        if (t < j) {
            if (t < j) {
                u = (double)i;
                v += w * d;
            }
            w = x[i];
            x[i] = ((fma((double)((double)b), d, w) - (double)j) - (rint((double)(z[b & 7])) + (double)i));
        } else {
            if (i == m) {
                v = (double)j;
                sh[t & 63] = 1.5;
            }
            if (w > v) {
                u = ((int)((double)b) + (__drcp_rn((double)b) + (x[i] * (double)j)));
                v += w * d;
                w = u;
            }
            if (w > v) {
                if (t < j) {
                    w = (int)(((1.5 * (double)i) + (v * z[b & 7])));
                    w = (((z[i] * u) * rint((double)(1.5))) * (double)i);
                }
            }
        }
        if (i == m) {
            z[i] = floor((double)((fma((double)((double)j), d, w) - x[i])));
            z[i] = sin((double)(x[i]));
        }
        if (i == m) {
            v = (((x[i] * z[b & 7]) * __drcp_rn(z[b & 7])) - d);
        }
    }
    z[t] = w; z[t + n] = v;
}
