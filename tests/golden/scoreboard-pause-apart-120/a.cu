__global__ void pause(int *pi, double *pd, float *pf, long long *pl, int n)
{
    __shared__ int counts[64];
    int t = threadIdx.x + blockIdx.x * blockDim.x;
    int a = pi[t], b = pi[t + n];
    double d0 = pd[t], d1 = pd[t + n], d2 = n;
    float f0 = pf[t], f1 = pf[t + n], f2 = t;
    long long l0 = pl[t], l1 = pl[t + n], l2 = n;
    unsigned mask = __activemask();
    counts[threadIdx.x & 63] = b;
    __syncwarp(mask);
    atomicAdd(&counts[a & 7], a);
    __nanosleep(8);
    b += __popc(__match_any_sync(mask, a));
    d0 += (double)l2;
    __syncthreads();
    pi[t] = a + b * t;
    pd[t] = d0 + d1 * d2;
    pf[t] = f0 + f1 * f2;
    pl[t] = l0 + l1 * l2;
}
