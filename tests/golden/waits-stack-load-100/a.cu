__global__ void k(int *p0, int *p1, int *p2, int *p3, int *p4, int *p5, int *p6, int *p7, int n,
                  int s)
{
    int a[16], t = threadIdx.x + blockIdx.x * blockDim.x;
    a[13] = p5[n];
    a[2] = p7[n];
    a[10] = p5[blockIdx.x];
    a[14] = p6[threadIdx.x];
    a[6] = p1[threadIdx.x];
    a[11] = p3[t + 51];
    a[1] = p4[s];
    a[15] = p2[t + 19];
    a[14] = p6[threadIdx.x];
    a[0] = p2[s];
    a[0] = p4[threadIdx.y];
    a[13] = p6[blockIdx.x];
    a[2] = p5[blockIdx.x];
    a[threadIdx.x & 15] = p5[t];
    a[blockIdx.x & 15] = p0[t + 49];
    p1[gridDim.x] = a[threadIdx.x & 15];
    p2[threadIdx.x] = a[t & 15];
}
