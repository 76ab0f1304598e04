__managed__ int shared_count = 5;
extern __managed__ float grid[100];
__device__ int plain = 3;
static __managed__ int local_m = 9;
__global__ void k2(int i)
{
    grid[i] += plain + local_m++;
}
