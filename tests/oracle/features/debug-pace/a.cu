__global__ void a(unsigned long long *p) { p[2] = p[0] % p[1]; p[5] = p[3] / p[4]; }
