/* One copy sets up the register that its frame starts with behind the exit, the other in front of it. */
template <class T> __global__ void k(T *p, size_t n)
{
    const size_t i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i >= n)
        return;
    atomicSub(&p[1], (T)10);
    atomicMin(&p[3], (T)i);
    atomicAnd(&p[4], (T)(2 * i + 7));
    atomicOr(&p[5], (T)(1 << i));
    atomicXor(&p[6], (T)i);
    atomicInc((unsigned *)&p[7], 17);
    atomicDec((unsigned *)&p[8], 137);
}
template __global__ void k<int>(int *, size_t);
