__constant__ int step[3] = {1, 2, 3};
__global__ void child(int *p);
__device__ void spawn(int *p);
__global__ void parent(int *p)
{
    child<<<1, 32>>>(p + step[p[0]]);
    spawn(p + 4);
}
