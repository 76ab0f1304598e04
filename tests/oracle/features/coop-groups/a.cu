#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__device__ int reduce_tile(cg::thread_block_tile<32> t, int v);
__device__ void everyone();
__global__ void k(int *p)
{
    cg::grid_group g = cg::this_grid();
    auto t = cg::tiled_partition<32>(cg::this_thread_block());
    p[g.thread_rank()] = reduce_tile(t, p[0]);
    g.sync();
    everyone();
    p[0] += t.meta_group_rank();
}
