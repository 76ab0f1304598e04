__device__ int pick(const int *v, int i)
{
    return v[i] + v[i * 2];
}
struct S {
    double d;
    char c;
    short s[3];
};
__global__ void small(S s, float f, char c, S *q, short h)
{
    *q = s;
    q->d += f + c + h;
}
