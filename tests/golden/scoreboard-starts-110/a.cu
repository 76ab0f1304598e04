/* The counting kernel of the toolkit's own radix sort. */
#include <cub/device/device_radix_sort.cuh>
using hub = cub::detail::radix::policy_hub<float, unsigned, unsigned long long>;
template __global__ void cub::detail::radix_sort::DeviceRadixSortHistogramKernel<hub::Policy1000, cub::SortOrder::Ascending, float, unsigned long long, cub::detail::identity_decomposer_t>(unsigned long long *, const float *, unsigned long long, int, int, cub::detail::identity_decomposer_t);
