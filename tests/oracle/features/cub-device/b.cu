#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
void run2(int *in, int *out, void *tmp, size_t n)
{
    cub::DeviceReduce::Sum(tmp, n, in, out, 1000);
    cub::DeviceScan::ExclusiveSum(tmp, n, in, out, 1000);
}
