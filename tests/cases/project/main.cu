#include <stdio.h>

#include "part.h"

__device__ int unused_function(int x)
{
    return x - 1;
}

__global__ void unused_kernel(int *data)
{
    *data = unused_function(*data);
}

__global__ void main_kernel(int *data)
{
    shape square(4);
    const shape *s = &square;
    data[threadIdx.x] = scale(data[threadIdx.x]) + s->area(2) + chosen(7);
    if (data[threadIdx.x] < 0)
        printf("negative at %d\n", threadIdx.x);
}

int main()
{
    int *data = nullptr;
    cudaMalloc(&data, 64 * sizeof *data);
    main_kernel<<<1, 64>>>(data);
    launch_part(data, 64);
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
