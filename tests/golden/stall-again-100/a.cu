/* A stall count that becomes longer, the next one that becomes shorter, and what needs a distance from it. */
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void sweep(double *a, const double *b, int size, int rounds)
{
    cg::grid_group grid = cg::this_grid();
    int first = grid.thread_rank();
    for (int r = 0; r < rounds; r++) {
        for (int i = first; i < size; i += blockDim.x * gridDim.x)
            a[i] = b[i] * 0.25;
        grid.sync();
    }
}
