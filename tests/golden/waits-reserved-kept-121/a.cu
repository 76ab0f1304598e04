__global__ void tile(const unsigned char *in, unsigned char *out, int n, int m)
{
    __shared__ int t[34][34];
    const int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y * blockDim.y + threadIdx.y + 1;
    const int p = y * m + x, i = threadIdx.y + 1, j = threadIdx.x + 1, w = blockDim.x, h = blockDim.y;
    t[i][j] = in[p];
    if (i == 1) {
        t[0][j] = in[p - m];
        if (j == 1)
            t[0][0] = in[p - m - 1];
        else if (j == w)
            t[0][w + 1] = in[p - m + 1];
    } else if (i == h) {
        t[h + 1][j] = in[p + m];
        if (j == w)
            t[h + 1][w + 1] = in[p + m + 1];
        else if (j == 1)
            t[h + 1][0] = in[p + m - 1];
    }
    if (j == 1)
        t[i][0] = in[p - 1];
    else if (j == w)
        t[i][w + 1] = in[p + 1];
    __syncthreads();
    int s = 0;
    for (int a = -1; a < 2; a++)
        for (int b = -1; b < 2; b++)
            s += t[i + a][j + b] * (a * 3 + b + 7);
    out[p] = s >> 4;
}
