/* Host objects for the tests: see make.sh. */
extern __device__ int hbar(int);
__global__ void hk(int *p)
{
    *p = hbar(*p);
}
