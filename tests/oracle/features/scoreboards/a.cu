// Loops, branches and loads in such numbers that scoreboards run out: who shares one with whom, which
// end of a block waits, where threads meet again, and exits whose guard arrives late.
__global__ void rank_of(int many, int width, int top, const float *scores, const int *labels, int *hits)
{
    __shared__ int sums[8];
    int good = 0;
    for (int row = blockIdx.x; row < many; row += gridDim.x) {
        int label = labels[row], above = 0;
        float mine = scores[row * width + label];
        for (int k = threadIdx.x; k < width; k += blockDim.x) {
            float v = scores[row * width + k];
            if (v > mine || (v == mine && k <= label))
                above++;
        }
        above = __reduce_add_sync(~0u, above);
        if (threadIdx.x % 32 == 0)
            sums[threadIdx.x / 32] = above;
        __syncthreads();
        if (threadIdx.x == 0) {
            for (int k = 1; k < 8; k++)
                above += sums[k];
            good += above <= top;
        }
        __syncthreads();
    }
    if (threadIdx.x == 0)
        atomicAdd(hits, good);
}
__global__ void accumulate(const int *from, const int *to, const float *value, const float *weight, const float *more,
                           int rows, int columns, int width, float *out)
{
    extern __shared__ float part[];
    int at = blockIdx.x * columns + threadIdx.x;
    if (threadIdx.x < width)
        part[threadIdx.x] = 0;
    __syncthreads();
    for (int row = threadIdx.x; row < rows; row += blockDim.x) {
        float v = value[at + row];
        if (v != 0)
            for (int k = from[row] + columns; k < to[row + 1]; k++)
                atomicAdd(&part[out ? (int)more[k] : k], v * weight[k]);
    }
    __syncthreads();
    if (threadIdx.x < width)
        out[blockIdx.x * width + threadIdx.x] = part[threadIdx.x];
}
__global__ void doubles(const double *from, double *to, const int *order, int n, double limit)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        double v = from[order[i]], w = from[i];
        if (v > limit && w < v)
            to[i] = v;
        else if (v != w)
            to[i] = w * limit;
        int k = v > w ? 3 : 5;
        to[i + k] += v;
    }
}
__global__ void greatest(double *p, double v, int n)
{
    for (int i = 0; i < n; i++) {
        double mine = v + threadIdx.x * i;
        unsigned long long *at = (unsigned long long *)(p + i), old = *at;
        while (__longlong_as_double(old) < mine) {
            unsigned long long seen = atomicCAS(at, old, __double_as_longlong(mine));
            if (seen == old)
                break;
            old = seen;
        }
        if (mine > p[i + n])
            return;
    }
}
