#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__device__ int neighbour(int *s);
__global__ void __cluster_dims__(2, 1, 1) k(int *p)
{
    __shared__ int s[32];
    s[threadIdx.x & 31] = p[0];
    cg::this_cluster().sync();
    p[0] = neighbour(s);
    cg::this_cluster().sync();
}
__global__ void __launch_bounds__(128, 1, 4) ranked(int *p)
{
    p[0] = cg::this_cluster().block_rank();
}
