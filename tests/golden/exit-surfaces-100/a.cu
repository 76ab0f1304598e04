// Stores to surfaces, and what is not one, with barriers in front of exits.
extern "C" __global__ void stores(cudaSurfaceObject_t s, int n)
{
    surf1Dwrite(n, s, threadIdx.x * 4);
}

extern "C" __global__ void reduces(unsigned long long s, int n)
{
    asm volatile("sured.b.add.1d.u32.trap [%0, {%1}], %1;" ::"l"(s), "r"(n) : "memory");
}

extern "C" __global__ void loads(cudaSurfaceObject_t s, int *o)
{
    o[threadIdx.x] = surf1Dread<int>(s, threadIdx.x * 4);
}
