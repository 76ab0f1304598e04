/* An early exit behind a store, whose guard is a comparison of 64 bits; the store's address is a sum of 64 bits. */
__global__ void copy_rows(char *to, const char *from, int rows, long long step)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    to[row] = 1;
    long long offset = (long long)row * 12 + step;
    const char *source = from + offset;
    char *target = to + offset;
    if (row >= rows)
        return;
    for (int i = 0; i < rows; i++, target += step, source += step)
        *target = *source;
}
