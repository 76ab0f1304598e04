#include <cub/device/device_radix_sort.cuh>

using hub = cub::detail::radix::policy_hub<int, int, unsigned long long>;

template __global__ void
cub::detail::radix_sort::DeviceRadixSortHistogramKernel<
    hub::MaxPolicy, cub::SortOrder::Ascending, int, unsigned long long,
    cub::detail::identity_decomposer_t>(unsigned long long *, const int *, unsigned long long, int,
                                        int, cub::detail::identity_decomposer_t);
