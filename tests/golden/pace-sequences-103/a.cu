struct arr { double2 v[8]; };
__device__ inline arr other(unsigned m, const arr &a, int d) { arr t; for (int i = 0; i < 8; i++) { t.v[i].x = __shfl_down_sync(m, a.v[i].x, d); t.v[i].y = __shfl_down_sync(m, a.v[i].y, d); } return t; }
__device__ inline arr plus(const arr &a, const arr &b) { arr t; for (int i = 0; i < 8; i++) { t.v[i].x = a.v[i].x + b.v[i].x; t.v[i].y = a.v[i].y + b.v[i].y; } return t; }
__global__ void k(arr *o, const arr *p, const unsigned *q) {
  unsigned m = 0xffff; arr a = p[threadIdx.x]; __shared__ arr sh[32];
  for (int c = 0; c < q[0]; c++) { if (q[threadIdx.x + c] > 5) {
#pragma unroll
  for (int d = 4; d > 0; d /= 2) a = plus(a, other(m, a, d));
  } }
  if (threadIdx.x == 0) o[blockIdx.x] = a;
}
