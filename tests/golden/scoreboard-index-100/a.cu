// A transposition: the row of the block comes later to the ALU than the index of the thread.
#include <cuda_fp16.h>
__global__ void transpose(const __half *a, __half *c, int n, int m)
{
    __shared__ __half s[32][32];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
#pragma unroll 1
    for (int j = 0; j < 32; j += 8)
        if (x < n && y + j < m)
            s[threadIdx.y + j][threadIdx.x] = a[(y + j) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        c[(y + j) * m + x] = s[threadIdx.x][threadIdx.y + j];
}
