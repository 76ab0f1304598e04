#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cuda/functional>
#include <cub/warp/warp_reduce.cuh>
__device__ int scan_all(int v);
__global__ void k(int *p)
{
    using R = cub::BlockReduce<int, 128>;
    __shared__ typename R::TempStorage t;
    int s = R(t).Sum(p[threadIdx.x]);
    p[threadIdx.x] = s + scan_all(s);
}
__global__ void w(float *p)
{
    using W = cub::WarpReduce<float>;
    __shared__ typename W::TempStorage t[4];
    p[threadIdx.x] = W(t[threadIdx.x / 32]).Reduce(p[threadIdx.x], cuda::maximum<>{});
}
