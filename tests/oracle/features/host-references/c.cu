__global__ void far(int *p)
{
    *p = 9;
}

__global__ void farther(int *p)
{
    *p = 10;
}
