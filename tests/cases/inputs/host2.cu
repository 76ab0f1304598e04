/* Host objects for the tests: see make.sh. */
__device__ int hbar(int x)
{
    return x + 1;
}
__global__ void hk2(int *p)
{
    *p = hbar(*p);
}
