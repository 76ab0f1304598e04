extern __device__ int arr[8];
extern __constant__ int carr[3];
__global__ void k(int *p)
{
    p[0] = arr[p[1]] + carr[p[2]];
}
