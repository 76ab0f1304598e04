// A tile of a convolution of doubles: a result that comes around a loop holds a number that is taken again.
__constant__ double w[64];
__global__ void conv(const double *a, double *c, int n, int m)
{
    __shared__ double s[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x] = a[i];
    __syncthreads();
    int first = blockIdx.x * blockDim.x, next = first + blockDim.x, start = i - m / 2;
    double p = 0;
    for (int j = 0; j < m; j++) {
        int k = start + j;
        if (k >= 0 && k < n) {
            if (k >= first && k < next)
                p += s[threadIdx.x + j - m / 2] * w[j];
            else
                p += a[k] * w[j];
        }
    }
    c[i] = p;
}
