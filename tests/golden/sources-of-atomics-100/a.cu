#include <cstdio>
#include <cuda_fp16.h>
struct row { int location, next[64], key[64]; };

extern "C" __global__ void k0(long n, const struct row *rows, long *at, long *to, const int *low, int *out)
{
    int t = threadIdx.x, b = blockIdx.x; for (long i = 0; i < n; i++) { if (rows[at[b]].key[t] <= low[t] && rows[at[b]].key[t + 1] > low[b] && rows[to[b]].next[t] < n) to[b] = rows[at[b]].next[t]; if (rows[at[b]].key[t] <= low[t] && rows[at[b]].key[t + 1] > low[b] && rows[to[b]].next[t] < n) to[b] = rows[at[b]].next[t]; if (rows[at[b + 1]].key[t] <= low[t]) to[b + 1] = rows[at[b + 1]].next[t]; if (rows[at[b + 1]].key[t] <= low[t]) to[b + 1] = rows[at[b + 1]].next[t]; if (rows[at[b + 1]].key[t] <= low[t]) to[b + 1] = rows[at[b + 1]].next[t]; } atomicAdd(out + t, 1); if (rows[at[b + 1]].key[t] <= low[t]) to[b + 1] = rows[at[b + 1]].next[t];
}
