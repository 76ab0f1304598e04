struct extremes {
    float low[3], high[3];
    long long at, to;
};
__device__ extremes other(extremes a, int distance)
{
    extremes b;
    for (int i = 0; i < 3; i++)
        b.low[i] = __shfl_down_sync(~0u, a.low[i], distance);
    b.at = __shfl_down_sync(~0u, a.at, distance);
    for (int i = 0; i < 3; i++)
        b.high[i] = __shfl_down_sync(~0u, a.high[i], distance);
    b.to = __shfl_down_sync(~0u, a.to, distance);
    return b;
}
__device__ float length(const float *v)
{
    float s = 0;
    for (int i = 0; i < 3; i++)
        s += v[i] * v[i];
    return s;
}
__global__ void reduce(extremes *p, int n)
{
    extremes x = p[threadIdx.x];
    const int lane = threadIdx.x & 31;
    for (int d = 1; d < 32; d *= 2) {
        extremes y = other(x, d);
        if (lane + d < n) {
            if (length(y.low) < length(x.low) || (length(y.low) == length(x.low) && y.at < x.at)) {
                for (int i = 0; i < 3; i++)
                    x.low[i] = y.low[i];
                x.at = y.at;
            }
            if (length(y.high) > length(x.high)) {
                for (int i = 0; i < 3; i++)
                    x.high[i] = y.high[i];
                x.to = y.to;
            }
        }
    }
    if (lane == 0)
        p[threadIdx.x / 32] = x;
}
