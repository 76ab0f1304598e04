#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__device__ int reduce_tile(cg::thread_block_tile<32> t, int v)
{
    for (int i = 16; i; i /= 2)
        v += t.shfl_down(v, i);
    auto c = cg::coalesced_threads();
    return v + c.size();
}
__device__ void everyone()
{
    cg::this_grid().sync();
}
__global__ void k2(int *p)
{
    auto b = cg::this_thread_block();
    b.sync();
    auto t8 = cg::tiled_partition<8>(b);
    p[b.thread_rank()] = t8.any(p[1] > 0) + t8.shfl(p[0], 2);
}
