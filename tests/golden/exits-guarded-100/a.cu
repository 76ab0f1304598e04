/* Stores in front of early exits, whose sources are overwritten behind them. */
extern "C" __global__ void exit0(const int *a, int *b, int n, int m) {
  int i = threadIdx.x, x = a[i], y = a[i + n], z = n;
  float g = rsqrtf((float)x);
  z = z & x;
  b[i + 0] = x;
  z = z & m;
  z = z ^ y;
  z = z ^ x;
  z = z ^ i;
  if (x == z) return;
  x += y; b[i * 5] = x + (int)g;
}
extern "C" __global__ void exit1(const int *a, int *b, int n, int m) {
  int i = threadIdx.x, x = a[i], y = a[i + n], z = n;
  float g = 0;
  z = z * i;
  b[i + 0] = x;
  if (x == z) return;
  x += y; b[i * 5] = x + (int)g;
}
extern "C" __global__ void exit2(const int *a, int *b, int n, int m) {
  int i = threadIdx.x, x = a[i], y = i * m, z = n;
  float g = 0;
  z = z + y;
  b[i + 0] = x;
  z = z ^ m;
  b[i + 1] = x;
  z = z + m;
  z = z + y;
  z = z ^ x;
  if (z < 0) return;
  x += y; b[i * 5] = x + (int)g;
}
extern "C" __global__ void exit4(const int *a, int *b, int n, int m) {
  __shared__ int s[256];
  int i = threadIdx.x, x = a[i], y = m ^ 5, z = n;
  float g = 0;
  z = z * y;
  s[i ^ 0] = x;
  z = z * x;
  s[i ^ 1] = x;
  z = z & y;
  s[i ^ 2] = x;
  z = z + y;
  z = z + y;
  if (z < 0) return;
  x += y; b[i * 5] = x + (int)g;
  __syncthreads();
  b[i] = s[i ^ 5] + x;
}
extern "C" __global__ void exit5(const int *a, int *b, int n, int m) {
  int i = threadIdx.x, x = a[i], y = a[i ^ 1], z = n;
  float g = 0;
  z = z ^ x;
  b[i + 0] = x;
  z = z & m;
  if ((z & 3) == 1) return;
  x += y; b[i * 5] = x + (int)g;
}
extern "C" __global__ void exit6(const int *a, int *b, int n, int m) {
  __shared__ int s[256];
  int i = threadIdx.x, x = a[i], y = a[i + n], z = n;
  s[i ^ 0] = x;
  s[i ^ 1] = x;
  z = z * y;
  if ((z & 3) == 1) return;
  x += y; b[i * 5] = x;
  __syncthreads();
  b[i] = s[i ^ 5] + x;
}
extern "C" __global__ void exit7(const int *a, int *b, int n, int m) {
  int i = threadIdx.x, x = a[i], y = a[i + n], z = n;
  b[i + 0] = x;
  z = z + i;
  if (x == z) return;
  x += y; b[i * 5] = x;
}
extern "C" __global__ void exit8(const int *a, int *b, int n, int m) {
  __shared__ int s[256];
  int i = threadIdx.x, x = a[i], y = a[i + n], z = n;
  s[i ^ 0] = x;
  s[i ^ 1] = x;
  z = z ^ y;
  z = z ^ i;
  z = z * y;
  if (z > m) return;
  x += y; b[i * 5] = x;
  __syncthreads();
  b[i] = s[i ^ 5] + x;
}
