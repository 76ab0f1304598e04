extern "C" __device__ int pf(double a, int b)
{
    return (int)a + b;
}
