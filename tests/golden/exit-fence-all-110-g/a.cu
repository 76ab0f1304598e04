// A fence whose last part waits for everything, and stores behind it.
extern "C" __global__ void fenced(int *o, int n)
{
    o[threadIdx.x] = n;
    asm volatile("fence.acq_rel.cta;" ::: "memory");
    for (int k = 1; k < 9; k++)
        o[threadIdx.x + 64 * k] = n;
}
