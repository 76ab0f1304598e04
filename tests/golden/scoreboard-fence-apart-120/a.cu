#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

__global__ void fenced(int *pi, double *pd, float *pf, long long *pl, int n)
{
    __shared__ double sd[64];
    __shared__ int si[64];
    int t = threadIdx.x + blockIdx.x * blockDim.x;
    int i0 = pi[t], i1 = pi[t + n], i2 = t;
    double d0 = pd[t], d1 = pd[t + n], d2 = n;
    float f0 = pf[t], f1 = pf[t + n], f2 = t;
    long long l0 = pl[t], l1 = pl[t + n], l2 = n;
    unsigned mask = n;
    sd[threadIdx.x & 63] = d1;
    si[threadIdx.x & 63] = i1;
    i1 = __byte_perm(i1, i1, i2);
    pl[i2 & 255] = l2;
    f1 += (float)l2;
    d1 = cg::reduce(cg::tiled_partition<32>(cg::this_thread_block()), d2, cg::plus<double>());
    __threadfence();
    if (__any_sync(mask, f2 > f1))
        d1 *= 1.5;
    l1 += cg::tiled_partition<4>(cg::this_thread_block()).shfl_down(l2, 1);
    __threadfence();
    pi[t] = i0 + i1 * i2;
    pd[t] = d0 + d1 * d2;
    pf[t] = f0 + f1 * f2;
    pl[t] = l0 + l1 * l2;
}
