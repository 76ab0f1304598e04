#include <cub/device/device_reduce.cuh>
void run(int *in, int *out, void *tmp, size_t n)
{
    cub::DeviceReduce::Sum(tmp, n, in, out, 1000);
}
__global__ void mine(int *p)
{
    p[0] = 1;
}
