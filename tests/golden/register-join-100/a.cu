template <int N> __global__ void steps(int *p, int n)
{
    int i = threadIdx.x;
    if (i == 0) {
        if (p[0] == 1)
            p[1] = p[4];
    } else if (i < n) {
        if (p[i] > p[i - 1])
            p[p[i]] = p[i + n];
    }
}
template __global__ void steps<1>(int *, int);
