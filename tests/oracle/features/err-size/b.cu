__device__ int arr[9];
__constant__ int carr[4] = {1};
__global__ void k2(int *p)
{
    p[0] = arr[p[1]] + carr[2];
}
