/* Sums by atomic operations whose results nobody wants, in a loop and in what the compiler splits off it. */
extern "C" __global__ void k(float *out, const float *in, int *count, int n, int m)
{
    __shared__ float part[512];
    int t = threadIdx.x, at = t * 3;
    float v0 = n, v1 = 0;
    for (int i = t; i < n; i += 64) {
        v1 += part[t ^ 1];
        v0 = v1 - v1;
        atomicAdd(out + t, v0);
        part[t] = v0;
    }
    out[at] = v0 + v1;
    count[t] = at;
}
