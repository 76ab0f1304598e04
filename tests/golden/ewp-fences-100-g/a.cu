__device__ __noinline__ int square(int x) { return x * x + 7; }
__global__ void k(int *a, int n)
{
    __shared__ int s[32];
    a[threadIdx.x] = square(a[3]);
    __threadfence();
    a[threadIdx.x + 100] = 2;
    __threadfence_system();
    s[threadIdx.x % 32] = n;
    __threadfence_block();
    a[n] = s[n % 32];
    if (n > 3)
        return;
    __threadfence();
    a[n + 1] = square(n);
}
