__constant__ int one_a = 1;
__constant__ double da = 2.5;
__constant__ int arr_a[4] = {1, 2, 3, 4};
__constant__ char tiny = 1;
__device__ int fb(int);
__global__ void k(int *p)
{
    p[0] = one_a + (int)da + arr_a[p[1] & 3] + tiny + fb(p[2]);
}
