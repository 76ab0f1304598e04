#include <cooperative_groups.h>

__global__ void take(int *pi, double *pd, float *pf, long long *pl, int n)
{
    __shared__ double sd[64];
    __shared__ int si[64];
    int t = threadIdx.x + blockIdx.x * blockDim.x;
    int i0 = pi[t], i1 = pi[t + n], i2 = t;
    double d0 = pd[t], d1 = pd[t + n], d2 = n;
    float f0 = pf[t], f1 = pf[t + n], f2 = t;
    long long l0 = pl[t], l1 = pl[t + n], l2 = n;
    sd[threadIdx.x & 63] = d1;
    si[threadIdx.x & 63] = i1;
    pd[i1 & 255] = d1;
    auto g = cooperative_groups::coalesced_threads();
    if (g.thread_rank() == 0)
        i2 = atomicAdd(pi, (int)g.size());
    i0 = g.shfl(i1, 0) + g.thread_rank();
    l2 = atomicMax(pl, l2);
    pi[t] = i0 + i1 * i2;
    pd[t] = d0 + d1 * d2;
    pf[t] = f0 + f1 * f2;
    pl[t] = l0 + l1 * l2;
}
