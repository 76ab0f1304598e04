__device__ int other(int i, int v)
{
    switch (v) {
    case 10: return i * 3;
    case 11: return i / 7;
    case 12: return __clz(i);
    case 13: return i ^ v;
    case 14: return i % 5;
    case 15: return i << 3;
    case 16: return clock();
    }
    return 0;
}
