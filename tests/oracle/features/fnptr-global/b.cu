typedef int (*op_t)(int, int);
__device__ int add(int a, int b)
{
    return a + b;
}
__device__ int sub(int a, int b)
{
    return a - b;
}
static __device__ int mul(int a, int b)
{
    return a * b;
}
__device__ op_t table[4] = {add, sub, mul, 0};
