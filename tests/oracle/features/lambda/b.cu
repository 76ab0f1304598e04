struct Op {
    int v;
    __device__ int plus(int x) const;
    __device__ int minus(int x) const;
};
__device__ int Op::plus(int x) const
{
    return v + x;
}
__device__ int Op::minus(int x) const
{
    return v - x;
}
__device__ int call_member(Op *o, int i, int x)
{
    int (Op::*f)(int) const = i ? &Op::plus : &Op::minus;
    return (o->*f)(x);
}
