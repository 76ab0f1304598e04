#include "h.h"
static __device__ int leaf_b(int x)
{
    return x - 9;
}
__device__ void fill(Handler *h, int i)
{
    h[i].run = i & 1 ? leaf_a : leaf_b;
    h[i].weight = i;
}
