/* A loop whose count is the greater of a parameter and nothing, in uniform registers. */
extern "C" __global__ void k(float *out, const float *in, int *count, int n, int m)
{
    __shared__ float part[512];
    int t = threadIdx.x, at = count[t];
    float v0 = n, v1 = in[t], v2 = in[t];
    int i = m;
    do {
        v2 += in[(i + t) * 4 + 1];
        if (v0 > v2)
            v0 = __expf(v1) - v2;
        v1 += part[at & 511];
        v2 = __expf(v2) - v1;
        v0 = (float)__float2int_rn(v0) + v0;
        at = at ^ n;
    } while (i-- > 0);
    out[at] = v0 + v1 + v2;
}
