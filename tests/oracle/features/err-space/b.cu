extern "C" {
__constant__ int thing = 4;
}
__global__ void k2(int *p)
{
    p[0] = thing;
}
