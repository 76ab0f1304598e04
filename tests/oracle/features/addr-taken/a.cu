typedef int (*f1)(int);
typedef float (*f2)(float);
__device__ int one(int);
__device__ float lonely(float);
__global__ void k(unsigned long long *p, f1 g)
{
    p[0] = (unsigned long long)one;
    p[1] = (unsigned long long)lonely;
    p[2] = g(3);
}
