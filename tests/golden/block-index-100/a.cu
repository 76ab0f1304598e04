/* Indices of blocks and threads, and the cycles after which they are there. */
#include <cuda_fp16.h>

__global__ void first_row(const __half2 *rows, int *out, int count, long stride, long plane)
{
    const int width = gridDim.x, thread = threadIdx.x, layer = blockIdx.y, row = blockIdx.x;
    rows += layer * plane + row * 2 * stride;
    __shared__ int seen[32];
    if (thread < 32)
        seen[thread] = 1;
    cudaGridDependencySynchronize();
    __syncthreads();
    int at = (count - 1) * 256;
    for (; at >= 0; at -= 256) {
        int all = 1;
        for (int k = 0; k < 2; k++) {
            float2 v = __half22float2(rows[k * stride + at / 2 + thread]);
            all = all && isinf(v.x) && isinf(v.y);
        }
        all = __all_sync(~0u, all);
        if (thread % 32 == 0)
            seen[thread / 32] = all;
        __syncthreads();
        all = seen[thread % 32];
        __syncthreads();
        all = __all_sync(~0u, all);
        if (!all)
            break;
    }
    at += 256;
    if (threadIdx.x != 0)
        return;
    out[layer * width + row] = at;
}
