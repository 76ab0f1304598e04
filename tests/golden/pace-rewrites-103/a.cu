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
template <bool ADDED> __device__ inline int quo(int x, const fastdiv_t &v) {
    int q = (int)(((unsigned long long)(unsigned)x * v.M) >> 32);
    return (ADDED ? q + x : q) >> v.s;
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
template <bool ADDED> __device__ inline int shift(const arg &p, int i, int mu, int by) {
    int x[4], q = i;
    for (int d = 0; d < 4; d++) {
        int t = quo<ADDED>(q, p.X[d]);
        x[d] = q - t * p.X[d].d;
        q = t;
    }
    x[mu] = (x[mu] + by + p.n[mu]) % p.n[mu];
    return ((x[3] * p.n[2] + x[2]) * p.n[1] + x[1]) * p.n[0] + x[0];
}
/* A product of two matrices that lie `by` and `by2` in directions `mu` and `mu2`, perhaps one with s, too. */
template <bool ADDED, bool TWICE>
__device__ inline void step(const arg &p, int i, mat &s, int mu, int by, int mu2, int by2, int first, int second) {
    int j = shift<ADDED>(p, i, mu, by), h = shift<ADDED>(p, j, mu2, by2);
    mat a = load(p, j, first), b = load(p, h, second);
    a = mul(a, b);
    if (TWICE)
        a = mul(a, s);
    for (int q = 0; q < 2 * 2; q++) {
        s.e[q].x += a.e[q].x;
        s.e[q].y += p.c * a.e[q].y;
    }
}
__global__ void __maxnreg__(32) lower(arg p) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= p.V)
        return;
    mat s = load(p, i, 0);
    step<false, true>(p, i, s, 1, -1, 0, -1, 3, 3);
    step<false, false>(p, i, s, 2, 1, 2, 1, 3, 3);
    step<false, true>(p, i, s, 2, 1, 3, -1, 2, 3);
    for (int q = 0; q < 2 * 2; q++)
        p.o[q * p.V + i] = s.e[q];
}
__global__ void __maxnreg__(32) uniform(arg p) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= p.V)
        return;
    mat s = load(p, i, 0);
    step<true, true>(p, i, s, 1, -1, 3, -1, 2, 3);
    step<true, false>(p, i, s, 0, -1, 2, 1, 3, 0);
    step<true, false>(p, i, s, 0, 1, 1, 1, 1, 2);
    step<true, true>(p, i, s, 2, 1, 1, -1, 3, 3);
    step<true, true>(p, i, s, 1, 1, 2, -1, 2, 2);
    for (int q = 0; q < 2 * 2; q++)
        p.o[q * p.V + i] = s.e[q];
}
__global__ void __maxnreg__(56) upper(arg p) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= p.V)
        return;
    mat s = load(p, i, 0);
    step<true, false>(p, i, s, 1, -1, 0, -1, 1, 2);
    step<true, true>(p, i, s, 3, -1, 1, 1, 2, 2);
    step<true, false>(p, i, s, 2, 1, 0, -1, 3, 1);
    step<true, true>(p, i, s, 3, 1, 0, -1, 1, 0);
    step<true, true>(p, i, s, 0, -1, 0, 1, 0, 0);
    step<true, true>(p, i, s, 3, -1, 1, -1, 3, 3);
    for (int q = 0; q < 2 * 2; q++)
        p.o[q * p.V + i] = s.e[q];
}
