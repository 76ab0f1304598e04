/* Sums of 64 bits directly in front of an early exit, used behind it. */
__global__ void copy_byte(char *to, const char *from, int count, long long step)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    long long offset = i + step;
    const char *source = from + offset;
    char *target = to + offset;
    if (i >= count)
        return;
    *target = *source;
}
