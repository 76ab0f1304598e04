__global__ void b(unsigned long long *p) { p[3] = p[4] % p[1]; p[7] = p[3] / p[5]; }
