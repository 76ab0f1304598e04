__global__ void most(int *pi, double *pd, float *pf, long long *pl, int n)
{
    int t = threadIdx.x + blockIdx.x * blockDim.x;
    int a = pi[t], b = pi[t + n];
    double d0 = pd[t], d1 = pd[t + n], d2 = n;
    float f0 = pf[t], f1 = pf[t + n], f2 = t;
    long long l0 = pl[t], l1 = pl[t + n], l2 = n;
    unsigned mask = __activemask();
    l2 = atomicMax(pl, l1);
    while (l1 > 0) {
        l1 -= t;
        b = __shfl_xor_sync(mask, a, 1) + 1;
    }
    pi[t] = a + b * t;
    pd[t] = d0 + d1 * d2;
    pf[t] = f0 + f1 * f2;
    pl[t] = l0 + l1 * l2;
}
