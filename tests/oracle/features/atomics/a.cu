__device__ int lock_word;
__device__ void acquire(int *w);
__global__ void k(int *p, unsigned long long *q, double *d, float *f)
{
    acquire(&lock_word);
    atomicAdd(p, 3);
    atomicCAS(q, 1ull, 2ull);
    atomicAdd(d, 1.0);
    atomicMax(p + 1, 5);
    atomicExch(f, 2.f);
    atomicAdd_system(p, 1);
    __threadfence_system();
    lock_word = 0;
}
