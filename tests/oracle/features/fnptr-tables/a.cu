typedef double (*op)(double, double);
typedef void (*step)(int *);
__device__ double add(double a, double b) { return a + b; }
static __device__ double scale(double a, double b) { return a * 1.2345678901234567 + b; }
extern __device__ double power(double, double);
extern __device__ void run(int *, int);
extern __constant__ step steps[3];
__constant__ op ops[4] = {add, scale, power, nullptr};
__device__ op current = power;
__constant__ const char *const names[2] = {"first", "second"};
__global__ void apply(double *out, int which)
{
    out[0] = ops[which](out[1], out[2]) + names[which & 1][0];
    current = ops[which ^ 1];
}
__global__ void walk(int *p, int n)
{
    for (int i = 0; i < n; i++)
        steps[i % 3](p + i);
    run(p, n);
}
__global__ void pick(double *out)
{
    out[0] = current(out[1], out[2]);
}
