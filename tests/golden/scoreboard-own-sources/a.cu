// A store in a loop whose address and value nothing in the loop writes: its sources come around to itself.
extern "C" __global__ void store_around(float *out, const float *in, int *count, int n, int m)
{
    int t = threadIdx.x, at = blockIdx.x * 64 + t;
    float first = in[t], fixed = in[at], least = first, sum = n;
    int i = m;
    do {
        first = __shfl_xor_sync(~0u, fixed, 1) + least;
        for (int j = 0; j < 4; j++) {
            sum = fixed + first;
            if (t < 32)
                least = fmaxf(sum, least);
            sum = __fdividef(least, sum);
            least += in[i * m + t];
            if (at > m)
                break;
        }
        out[at] = fixed;
    } while (i-- > 0);
    out[at] = first + fixed + sum + least;
    count[t] = at;
}
