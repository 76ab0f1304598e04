// Atomics whose predicate decides a branch, fences that DEPBAR waits for, doubles in loops.
#include <cuda_fp16.h>

__global__ void classic(float *f, double *d, __half2 *h, unsigned short *s, int *i, unsigned *u)
{
    atomicAdd(f, 1.f);
    atomicAdd(d, 2.);
    atomicAdd(h, h[1]);
    int old = atomicCAS(s, (unsigned short)1, (unsigned short)2);
    atomicMin(i, old);
    atomicInc(u, 7);
    atomicXor_system(u + 2, 5);
    atomicExch(f + 2, atomicAdd(f + 3, 1.f));
}

__global__ void shared_memory(int *a)
{
    __shared__ int counts[64];
    __shared__ float sum;
    counts[threadIdx.x & 63] = 0;
    sum = 0;
    __syncthreads();
    atomicAdd(&counts[a[threadIdx.x] & 63], 1);
    atomicAdd(&sum, (float)a[threadIdx.x]);
    atomicCAS(&counts[3], 1, 2);
    __syncthreads();
    a[threadIdx.x] = counts[threadIdx.x & 63] + (int)sum;
}

__global__ void look_back(volatile int *flag, int *sums, int *before, const int *in, int *out)
{
    __shared__ int part[128], base;
    int t = threadIdx.x;
    part[t] = in[blockIdx.x * 128 + t];
    for (int o = 1; o < 128; o *= 2) {
        __syncthreads();
        int other = t >= o ? part[t - o] : 0;
        __syncthreads();
        part[t] += other;
    }
    __syncthreads();
    if (t == 0) {
        int b = blockIdx.x, sum = 0;
        sums[b] = part[127];
        __threadfence();
        flag[b] = 1;
        for (int i = b - 1; i >= 0; i--) {
            int f;
            while ((f = flag[i]) == 0)
                ;
            __threadfence();
            if (f == 2) {
                sum += before[i];
                break;
            }
            sum += sums[i];
        }
        before[b] = sum + part[127];
        __threadfence();
        flag[b] = 2;
        base = sum;
    }
    __syncthreads();
    out[blockIdx.x * 128 + t] = part[t] + base;
}
