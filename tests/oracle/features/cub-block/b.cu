#include <cub/block/block_scan.cuh>
#include <cub/block/block_radix_sort.cuh>
__device__ int scan_all(int v)
{
    using S = cub::BlockScan<int, 128>;
    __shared__ typename S::TempStorage t;
    int out;
    S(t).ExclusiveSum(v, out);
    return out;
}
__global__ void sortk(unsigned *p)
{
    using S = cub::BlockRadixSort<unsigned, 64, 2>;
    __shared__ typename S::TempStorage t;
    unsigned v[2] = {p[threadIdx.x], p[threadIdx.x + 64]};
    S(t).Sort(v);
    p[threadIdx.x] = v[0];
    p[threadIdx.x + 64] = v[1];
}
