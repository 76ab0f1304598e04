/* Threads that wait for those below them in the warp, with masks of their own, and count. */
__global__ void rank_in_warp(int *ranks, const int *values)
{
    int lane = threadIdx.x & 31;
    int value = values[threadIdx.x];
    unsigned below = ~(0xffffffffu << lane);
    unsigned set = __ballot_sync(below, value > 0);
    int rank = __popc(set) + (value > 0 && lane == 31);
    ranks[threadIdx.x] = rank;
}
