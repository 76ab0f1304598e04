__global__ void k(double *p, float *q, double a, double b, int n, float f, float g)
{
    double x = p[threadIdx.x], y = p[1] * a, z = q[2];
    x = z * (y * z);
    for (int k = 0; k < n; k++) {
        if (x < 1.0 && f < 0.f && (int)threadIdx.x > n) {
            q[1] = f * g;
            f += g;
            if (z - y + x * a > 0 || f > g)
                return;
        }
        if ((int)threadIdx.x > n && z * x + z != b * x && y - (y - b) > 0 && x - a - (a + x) != y)
            return;
    }
    for (int k = 0; k < n; k++) {
        n = (int)((z * b - y) * z);
        p[3] = x;
    }
    y = x;
    __syncthreads();
    p[3] = x + y;
    p[4] = z;
    q[5] = f + n;
}
