// A sum over blocks of which the last one to be done adds up the others.
__global__ void total(const float *__restrict__ in, const int n, unsigned *__restrict__ done,
                      volatile float *__restrict__ part)
{
    __shared__ bool last;
    __shared__ float s;
    unsigned t = threadIdx.x, b = blockIdx.x, blocks = gridDim.x, size = blockDim.x,
             i = b * size + t;
    if (t == 0)
        s = 0;
    __syncthreads();
    if (i < n)
        atomicAdd(&s, in[i]);
    __syncthreads();
    if (t == 0) {
        part[b] = s;
        __threadfence();
        unsigned before = atomicAdd(done, 1);
        last = before == blocks - 1;
    }
    __syncthreads();
    if (last) {
        if (t == 0)
            s = 0;
        __syncthreads();
        for (int j = t; j < blocks; j += size)
            atomicAdd(&s, part[j]);
        __syncthreads();
        if (t == 0) {
            part[0] = s;
            *done = 0;
        }
    }
}
