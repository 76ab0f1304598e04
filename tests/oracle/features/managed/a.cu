extern __managed__ int shared_count;
__managed__ float grid[100];
__managed__ double first = 2.5;
__global__ void k(int i)
{
    shared_count += i;
    grid[i] = shared_count + first;
}
