__constant__ int c1[10000];
__global__ void k(int *p)
{
    p[0] = c1[p[1]];
}
