extern "C" __global__ void k1(const int *a, int *c, int n, int m)
{
    __shared__ int s[32][33]; int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y; _Pragma("unroll 1") for (int j = 0; j < 32; j += 8) if (x < n && y + j < m) s[threadIdx.y + j][threadIdx.x] = a[(y + j) * n + x]; __syncthreads(); x = blockIdx.y * 32 + threadIdx.x; y = blockIdx.x * 32 + threadIdx.y; _Pragma("unroll 4") for (int j = 0; j < 32; j += 8) c[(y + j) * m + x] = s[threadIdx.x][threadIdx.y + j];
}
