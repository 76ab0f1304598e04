__device__ int plain(int *);
__device__ int debugged(int *p)
{
    return plain(p) + p[2];
}
