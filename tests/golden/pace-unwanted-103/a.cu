__global__ void copies(double *out, const float *in, double d, int n)
{
    __shared__ float part[64];
    int t = threadIdx.x;
    unsigned to = (unsigned)__cvta_generic_to_shared(part + t);
    double w = in[n] * d;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" : : "r"(to), "l"(in + t));
    asm volatile("cp.async.commit_group;");
    asm volatile("add.rn.f64 %0, %0, %1;" : "+d"(w) : "d"(d));
    if (t < n)
        return;
    out[t] = w;
}
