#include <cstdio>
#include <cuda_fp16.h>
struct row { int location, next[64], key[64]; };

extern "C" __global__ void k1(long n, const struct row *rows, long *at, long *to, const int *low, int *out)
{
    int t = threadIdx.x, b = blockIdx.x; for (int i = 0; i < n; i++) { if (rows[at[b]].key[t] <= low[b] && rows[at[b]].key[t + 1] > low[b]) to[b] = rows[at[b]].next[t]; __syncthreads(); } if (rows[at[b]].key[t] <= low[t] && rows[at[b]].key[t + 1] > low[b] && rows[to[b]].next[t] < n) to[b] = rows[at[b]].next[t]; out[t + 1] = to[b]; if (t == 0) { at[b] = to[b]; } atomicAdd(out + t, 1); __syncthreads(); if (t == 0) { at[b] = to[b]; out[b] += 1; }
}
