__device__ int other(int i, int v);
__global__ void k(int *p, int i)
{
    switch (i) {
    case 0: p[0] = 1; break;
    case 1: p[1] = other(i, 2); break;
    case 2: p[2] = __popc(p[0]); break;
    case 3: p[3] = p[2] * 7; break;
    case 4: p[4] = clock(); break;
    case 5: p[5] = p[6] / 9; break;
    case 6: p[1] = p[6] % 11; break;
    default: p[7] = 0;
    }
}
