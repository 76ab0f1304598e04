namespace lower {
struct fastdiv_t {
    unsigned long long M;
    int s, d;
};
struct arg {
    fastdiv_t X[4];
    int n[4];
    const double2 *g;
    double2 *o;
    int V;
    double c;
};
__device__ inline int quo(int x, const fastdiv_t &v) {
    int q = (int)(((unsigned long long)(unsigned)x * v.M) >> 32);
    return q >> v.s;
}
struct mat {
    double2 e[4];
};
__device__ inline mat mul(const mat &a, const mat &b) {
    mat c;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            double x = 0, y = 0;
            for (int k = 0; k < 2; k++) {
                double2 p = a.e[i * 2 + k], q = b.e[k * 2 + j];
                x += p.x * q.x - p.y * q.y;
                y += p.x * q.y + p.y * q.x;
            }
            c.e[i * 2 + j] = make_double2(x, y);
        }
    return c;
}
__device__ inline mat load(const arg &p, int i, int mu) {
    mat m;
    for (int k = 0; k < 2 * 2; k++)
        m.e[k] = p.g[(k * 4 + mu) * p.V + i];
    return m;
}
__device__ inline int shift(const arg &p, int i, int mu, int by) {
    int x[4], q = i;
    for (int d = 0; d < 4; d++) {
        int t = quo(q, p.X[d]);
        x[d] = q - t * p.X[d].d;
        q = t;
    }
    x[mu] = (x[mu] + by + p.n[mu]) % p.n[mu];
    return ((x[3] * p.n[2] + x[2]) * p.n[1] + x[1]) * p.n[0] + x[0];
}
__global__ void __maxnreg__(32) k(arg p) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= p.V)
        return;
    mat s = load(p, i, 0);
    {
        int j = shift(p, i, 1, -1), h = shift(p, j, 0, -1);
        mat a = load(p, j, 3), b = load(p, h, 3);
        a = mul(a, b);
        a = mul(a, s);
        for (int q = 0; q < 2 * 2; q++) {
            s.e[q].x += a.e[q].x;
            s.e[q].y += p.c * a.e[q].y;
        }
    }
    {
        int j = shift(p, i, 2, 1), h = shift(p, j, 2, 1);
        mat a = load(p, j, 3), b = load(p, h, 3);
        a = mul(a, b);
        for (int q = 0; q < 2 * 2; q++) {
            s.e[q].x += a.e[q].x;
            s.e[q].y += p.c * a.e[q].y;
        }
    }
    {
        int j = shift(p, i, 2, 1), h = shift(p, j, 3, -1);
        mat a = load(p, j, 2), b = load(p, h, 3);
        a = mul(a, b);
        a = mul(a, s);
        for (int q = 0; q < 2 * 2; q++) {
            s.e[q].x += a.e[q].x;
            s.e[q].y += p.c * a.e[q].y;
        }
    }
    for (int q = 0; q < 2 * 2; q++)
        p.o[q * p.V + i] = s.e[q];
}
} // namespace lower
namespace uniform {
struct fastdiv_t {
    unsigned long long M;
    int s, d;
};
struct arg {
    fastdiv_t X[4];
    int n[4];
    const double2 *g;
    double2 *o;
    int V;
    double c;
};
__device__ inline int quo(int x, const fastdiv_t &v) {
    int q = (int)(((unsigned long long)(unsigned)x * v.M) >> 32);
    return (q + x) >> v.s;
}
struct mat {
    double2 e[4];
};
__device__ inline mat mul(const mat &a, const mat &b) {
    mat c;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            double x = 0, y = 0;
            for (int k = 0; k < 2; k++) {
                double2 p = a.e[i * 2 + k], q = b.e[k * 2 + j];
                x += p.x * q.x - p.y * q.y;
                y += p.x * q.y + p.y * q.x;
            }
            c.e[i * 2 + j] = make_double2(x, y);
        }
    return c;
}
__device__ inline mat load(const arg &p, int i, int mu) {
    mat m;
    for (int k = 0; k < 2 * 2; k++)
        m.e[k] = p.g[(k * 4 + mu) * p.V + i];
    return m;
}
__device__ inline int shift(const arg &p, int i, int mu, int by) {
    int x[4], q = i;
    for (int d = 0; d < 4; d++) {
        int t = quo(q, p.X[d]);
        x[d] = q - t * p.X[d].d;
        q = t;
    }
    x[mu] = (x[mu] + by + p.n[mu]) % p.n[mu];
    return ((x[3] * p.n[2] + x[2]) * p.n[1] + x[1]) * p.n[0] + x[0];
}
__global__ void __maxnreg__(32) k(arg p) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= p.V)
        return;
    mat s = load(p, i, 0);
    {
        int j = shift(p, i, 1, -1), h = shift(p, j, 3, -1);
        mat a = load(p, j, 2), b = load(p, h, 3);
        a = mul(a, b);
        a = mul(a, s);
        for (int q = 0; q < 2 * 2; q++) {
            s.e[q].x += a.e[q].x;
            s.e[q].y += p.c * a.e[q].y;
        }
    }
    {
        int j = shift(p, i, 0, -1), h = shift(p, j, 2, 1);
        mat a = load(p, j, 3), b = load(p, h, 0);
        a = mul(a, b);
        for (int q = 0; q < 2 * 2; q++) {
            s.e[q].x += a.e[q].x;
            s.e[q].y += p.c * a.e[q].y;
        }
    }
    {
        int j = shift(p, i, 0, 1), h = shift(p, j, 1, 1);
        mat a = load(p, j, 1), b = load(p, h, 2);
        a = mul(a, b);
        for (int q = 0; q < 2 * 2; q++) {
            s.e[q].x += a.e[q].x;
            s.e[q].y += p.c * a.e[q].y;
        }
    }
    {
        int j = shift(p, i, 2, 1), h = shift(p, j, 1, -1);
        mat a = load(p, j, 3), b = load(p, h, 3);
        a = mul(a, b);
        a = mul(a, s);
        for (int q = 0; q < 2 * 2; q++) {
            s.e[q].x += a.e[q].x;
            s.e[q].y += p.c * a.e[q].y;
        }
    }
    {
        int j = shift(p, i, 1, 1), h = shift(p, j, 2, -1);
        mat a = load(p, j, 2), b = load(p, h, 2);
        a = mul(a, b);
        a = mul(a, s);
        for (int q = 0; q < 2 * 2; q++) {
            s.e[q].x += a.e[q].x;
            s.e[q].y += p.c * a.e[q].y;
        }
    }
    for (int q = 0; q < 2 * 2; q++)
        p.o[q * p.V + i] = s.e[q];
}
} // namespace uniform
namespace upper {
struct fastdiv_t {
    unsigned long long M;
    int s, d;
};
struct arg {
    fastdiv_t X[4];
    int n[4];
    const double2 *g;
    double2 *o;
    int V;
    double c;
};
__device__ inline int quo(int x, const fastdiv_t &v) {
    int q = (int)(((unsigned long long)(unsigned)x * v.M) >> 32);
    return (q + x) >> v.s;
}
struct mat {
    double2 e[4];
};
__device__ inline mat mul(const mat &a, const mat &b) {
    mat c;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            double x = 0, y = 0;
            for (int k = 0; k < 2; k++) {
                double2 p = a.e[i * 2 + k], q = b.e[k * 2 + j];
                x += p.x * q.x - p.y * q.y;
                y += p.x * q.y + p.y * q.x;
            }
            c.e[i * 2 + j] = make_double2(x, y);
        }
    return c;
}
__device__ inline mat load(const arg &p, int i, int mu) {
    mat m;
    for (int k = 0; k < 2 * 2; k++)
        m.e[k] = p.g[(k * 4 + mu) * p.V + i];
    return m;
}
__device__ inline int shift(const arg &p, int i, int mu, int by) {
    int x[4], q = i;
    for (int d = 0; d < 4; d++) {
        int t = quo(q, p.X[d]);
        x[d] = q - t * p.X[d].d;
        q = t;
    }
    x[mu] = (x[mu] + by + p.n[mu]) % p.n[mu];
    return ((x[3] * p.n[2] + x[2]) * p.n[1] + x[1]) * p.n[0] + x[0];
}
__global__ void __maxnreg__(56) k(arg p) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= p.V)
        return;
    mat s = load(p, i, 0);
    {
        int j = shift(p, i, 1, -1), h = shift(p, j, 0, -1);
        mat a = load(p, j, 1), b = load(p, h, 2);
        a = mul(a, b);
        for (int q = 0; q < 2 * 2; q++) {
            s.e[q].x += a.e[q].x;
            s.e[q].y += p.c * a.e[q].y;
        }
    }
    {
        int j = shift(p, i, 3, -1), h = shift(p, j, 1, 1);
        mat a = load(p, j, 2), b = load(p, h, 2);
        a = mul(a, b);
        a = mul(a, s);
        for (int q = 0; q < 2 * 2; q++) {
            s.e[q].x += a.e[q].x;
            s.e[q].y += p.c * a.e[q].y;
        }
    }
    {
        int j = shift(p, i, 2, 1), h = shift(p, j, 0, -1);
        mat a = load(p, j, 3), b = load(p, h, 1);
        a = mul(a, b);
        for (int q = 0; q < 2 * 2; q++) {
            s.e[q].x += a.e[q].x;
            s.e[q].y += p.c * a.e[q].y;
        }
    }
    {
        int j = shift(p, i, 3, 1), h = shift(p, j, 0, -1);
        mat a = load(p, j, 1), b = load(p, h, 0);
        a = mul(a, b);
        a = mul(a, s);
        for (int q = 0; q < 2 * 2; q++) {
            s.e[q].x += a.e[q].x;
            s.e[q].y += p.c * a.e[q].y;
        }
    }
    {
        int j = shift(p, i, 0, -1), h = shift(p, j, 0, 1);
        mat a = load(p, j, 0), b = load(p, h, 0);
        a = mul(a, b);
        a = mul(a, s);
        for (int q = 0; q < 2 * 2; q++) {
            s.e[q].x += a.e[q].x;
            s.e[q].y += p.c * a.e[q].y;
        }
    }
    {
        int j = shift(p, i, 3, -1), h = shift(p, j, 1, -1);
        mat a = load(p, j, 3), b = load(p, h, 3);
        a = mul(a, b);
        a = mul(a, s);
        for (int q = 0; q < 2 * 2; q++) {
            s.e[q].x += a.e[q].x;
            s.e[q].y += p.c * a.e[q].y;
        }
    }
    for (int q = 0; q < 2 * 2; q++)
        p.o[q * p.V + i] = s.e[q];
}
} // namespace upper
