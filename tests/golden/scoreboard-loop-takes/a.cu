/* Sums of eight threads in a loop: its first block loads by the number by which the stores to shared memory
 * of the round before read their sources. */
extern "C" __global__ void k(float *out, const float *in, int n, int m)
{
    __shared__ float part[512];
    const int lane = threadIdx.x & 7;
    volatile float *at = part + n % 256 + m;
    for (int i = threadIdx.x; i < n; i += 64) {
        float v0 = in[(i * m + threadIdx.x) * 2 + 0];
        float v1 = in[(i * m + threadIdx.x) * 2 + 1];
        v0 += __shfl_xor_sync(0xffffffff, v0, 1, 8);
        v1 += __shfl_xor_sync(0xffffffff, v1, 1, 8);
        v0 += __shfl_xor_sync(0xffffffff, v0, 2, 8);
        v1 += __shfl_xor_sync(0xffffffff, v1, 2, 8);
        if (lane == 0) {
            at[0] = v0;
            at[32] = v1;
        }
        __syncthreads();
        if ((int)threadIdx.x + n >= m)
            return;
        at = part + ((at - part) * 3 & 255);
        out[i * m + threadIdx.x] = at[0] + at[n];
        __syncthreads();
    }
}
