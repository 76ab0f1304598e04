/* The sorting kernel of the toolkit's own radix sort. */
#include <cub/device/device_radix_sort.cuh>
using hub = cub::detail::radix::policy_hub<unsigned, unsigned, unsigned long long>;
template __global__ void cub::detail::radix_sort::DeviceRadixSortOnesweepKernel<hub::Policy1000, cub::SortOrder::Ascending, unsigned, unsigned, unsigned long long, int, int, cub::detail::identity_decomposer_t>(int *, int *, unsigned long long *, const unsigned long long *, unsigned *, const unsigned *, unsigned *, const unsigned *, int, int, int, cub::detail::identity_decomposer_t);
