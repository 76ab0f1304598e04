#include "classes.h"
__global__ void kernel_a(double *out, int n)
{
    sized *all[4];
    for (int i = 0; i < 4; i++)
        all[i] = i % 2 ? make_b(i, i + 0.5) : (sized *)new square(i, i + 0.25);
    out[threadIdx.x] = total_b(all, n);
    for (int i = 0; i < 4; i++) {
        delete all[i];
    }
}
