__device__ int fb(int *p);
__device__ int ga[4] = {1};
__global__ void k(int *p)
{
    __shared__ int s[4];
    s[threadIdx.x & 3] = p[0];
    __syncthreads();
    p[0] = fb(p) + ga[1] + s[2];
}
