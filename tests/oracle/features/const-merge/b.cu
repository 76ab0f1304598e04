__constant__ int one_b = 1;
__constant__ double db = 2.5;
__constant__ int arr_b[4] = {1, 2, 3, 4};
__constant__ short sh[3] = {1, 2, 3};
__constant__ int zero;
__device__ int fb(int x)
{
    return one_b + (int)db + arr_b[x & 3] + sh[x % 3] + zero;
}
__global__ void kb(int *p)
{
    p[0] = fb(p[1]);
}
