#include <cstdio>
#include <cuda_fp16.h>
struct row { int location, next[64], key[64]; };

extern "C" __global__ void k3(double *a, int n, int m)
{
    __shared__ double s[32][33]; int t = threadIdx.x; for (int i = 0; i < 32; i++) s[i][t] = a[(m + i) * n + t]; __syncthreads(); for (int i = 0; i < 31; i++) { if (t > i) { for (int j = 0; j < i; j++) s[t][i] -= s[t][j] * s[j][i]; s[t][i] /= s[i][i]; } __syncthreads(); if (t > i) _Pragma("unroll 2") for (int j = 0; j < i + 1; j++) s[i + 1][t] -= s[i + 1][j] * s[j][t]; __syncthreads(); } for (int i = 1; i < 32; i++) a[(m + i) * n + t] = s[i][t];
}
