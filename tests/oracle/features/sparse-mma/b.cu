__device__ void sparse(float *c, const unsigned *a, unsigned e)
{
    float c0 = c[0], c1 = c[1], c2 = c[2], c3 = c[3];
    asm volatile("mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
                 "{%8,%9,%10,%11}, {%0,%1,%2,%3}, %12, 0x0;"
                 : "+f"(c0), "+f"(c1), "+f"(c2), "+f"(c3)
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(a[4]), "r"(a[5]), "r"(a[6]),
                   "r"(a[7]), "r"(e));
    c[0] = c0 + c1 + c2 + c3;
}
__device__ int plain(int x)
{
    return x;
}
__global__ void unrelated(int *p)
{
    *p = 4;
}
