/* Kernels that start kernels: needs libcudadevrt. */
__global__ void child(int *data)
{
    data[threadIdx.x] += 1;
}

__global__ void parent(int *data)
{
    child<<<1, 32>>>(data);
}

int main()
{
    int *data = nullptr;
    cudaMalloc(&data, 32 * sizeof *data);
    parent<<<1, 1>>>(data);
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
