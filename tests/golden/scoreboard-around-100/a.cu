// Drawn loops, unrolled four times, with stores under conditions that come around them.
struct row1 {
    int location;
    int next[64];
    int key[64];
    bool leaf;
};
struct row2 {
    int location;
    int next[64];
    int key[64];
    bool leaf;
};

__global__ void atomics(long n, const row2 *rows, long *at, long *to, long *at2, long *to2,
                        long *at3, long *to3, const int *low, const int *high, int *out)
{
    int t = threadIdx.x, b = blockIdx.x;
    long i;
    for (i = 0; i < n; i++) {
        atomicAdd(out + t, 1);
        if (rows[at2[b]].key[t] <= low[b] && rows[at2[b]].key[t + 1] > low[b] &&
            rows[to2[b]].next[t] < n)
            to2[b] = rows[at2[b]].next[t];
        if (rows[at[b]].key[t] <= high[b] && rows[at[b]].key[t + 1] > high[b] &&
            rows[to[b]].next[t] < n)
            to[b] = rows[at[b]].next[t];
        if (rows[at2[b]].key[t] <= low[b] && rows[at2[b]].key[t + 1] > low[b] &&
            rows[to2[b]].next[t] < n)
            to2[b] = rows[at2[b]].next[t];
        if (rows[at[b]].key[t] <= low[t] && rows[at[b]].key[t + 1] > low[t])
            to[b] = rows[at[b]].next[t];
        if (rows[at[b]].key[t] <= low[b] && rows[at[b]].key[t + 1] > low[b])
            to[b] = rows[at[b]].next[t];
        atomicAdd(out + t, 1);
    }
    if (rows[at2[b]].key[t] <= low[b] && rows[at2[b]].key[t + 1] > low[b])
        to2[b] = rows[at2[b]].next[t];
}

__global__ void dead(long n, const row2 *rows, long *at, long *to, long *at2, long *to2, long *at3,
                     long *to3, const int *low, const int *high, int *out)
{
    int t = threadIdx.x, b = blockIdx.x;
    long i;
    for (i = 0; i < n; i++) {
        if (rows[at[b]].key[t] <= low[b] && rows[at[b]].key[t + 1] > low[b] &&
            rows[to[b]].next[t] < n)
            to[b] = rows[at[b]].next[t];
        __syncthreads();
    }
    out[t + 2] = 3;
    if (rows[at2[b]].key[t] <= low[t] && rows[at2[b]].key[t + 1] > low[t])
        to2[b] = rows[at2[b]].next[t];
}

__global__ void stores(long n, const row1 *rows, long *at, long *to, long *at2, long *to2,
                       long *at3, long *to3, const int *low, const int *high, int *out)
{
    int t = threadIdx.x, b = blockIdx.x;
    int i;
    for (i = 0; i < n; i++) {
        if (rows[at2[b]].key[t] <= high[b] && rows[at2[b]].key[t + 1] > high[b])
            to2[b] = rows[at2[b]].next[t];
        if (rows[at[b]].key[t] <= low[b] && rows[at[b]].key[t + 1] > low[b])
            to[b] = rows[at[b]].next[t];
        if (rows[at[b]].key[t] <= low[t] && rows[at[b]].key[t + 1] > low[t] &&
            rows[to[b]].next[t] < n)
            to[b] = rows[at[b]].next[t];
    }
    if (rows[at3[b]].key[t] <= high[b] && rows[at3[b]].key[t + 1] > high[b])
        to3[b] = rows[at3[b]].next[t];
}

__global__ void reads(long n, const row2 *rows, long *at, long *to, long *at2, long *to2, long *at3,
                      long *to3, const int *low, const int *high, int *out)
{
    int t = threadIdx.x, b = blockIdx.x;
    __shared__ int s[256];
    s[t] = low[t];
    long i;
    for (i = 0; i < n; i++) {
        if (rows[at[b]].key[t] <= low[t] && rows[at[b]].key[t + 1] > low[t] &&
            rows[to[b]].next[t] < n)
            to[b] = rows[at[b]].next[t];
        out[t + 9] = to[b];
        __syncthreads();
        __syncthreads();
        if (rows[at[b]].key[t] <= high[b] && rows[at[b]].key[t + 1] > high[b] &&
            rows[to[b]].next[t] < n)
            to[b] = rows[at[b]].next[t];
        out[t + 7] = to[b];
    }
    if (rows[at[b]].key[t] <= low[t] && rows[at[b]].key[t + 1] > low[t] && rows[to[b]].next[t] < n)
        to[b] = rows[at[b]].next[t];
}
