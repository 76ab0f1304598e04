__global__ void child(int *p);
__device__ void spawn(int *p);
__global__ void parent(int *p)
{
    child<<<1, 32>>>(p);
    spawn(p + 4);
}
