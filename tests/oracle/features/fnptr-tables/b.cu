typedef void (*step)(int *);
__device__ double power(double a, double b) { return pow(a, b); }
static __device__ __noinline__ void clear(int *p) { *p = 0; }
static __device__ __noinline__ void count(int *p) { atomicAdd(p, 1); }
static __device__ __noinline__ void flip(int *p) { *p = ~*p; }
extern __constant__ step steps[3];
__constant__ step steps[3] = {clear, count, flip};
__device__ void run(int *p, int n)
{
    switch (n) {
    case 0: p[0] = 5; break;
    case 1: p[1] = p[0] * 3; break;
    case 2: count(p); break;
    case 3: flip(p); break;
    case 4: p[2] = p[1] ^ 9; break;
    case 5: clear(p + 7); break;
    case 6: p[6] = p[3] - 1; break;
    case 7: steps[p[0] & 1](p); break;
    case 8: p[9] = __popc(p[8]); break;
    default: p[3] = n;
    }
}
