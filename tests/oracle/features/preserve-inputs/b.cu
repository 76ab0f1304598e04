extern __device__ int ga[4];
__constant__ int cb = 9;
__device__ int fb(int *p)
{
    return p[cb] + ga[p[2] & 3];
}
