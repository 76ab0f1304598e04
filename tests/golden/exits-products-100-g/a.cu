/* Stores whose address comes from a product that waited for a parameter, shortly in front of an exit. */
extern "C" __global__ void late0(float *a, int *b, int n, int m, int z) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, x = m, y = n ^ i;
  a[i + 5] = x;
  y = y + i;
  y = y * 6;
  y = y + z;
  y = y + m;
  y = y + m;
  y = y * z;
  if (y == m) return;
  x += y; b[i] = x;
}
extern "C" __global__ void late1(int *a, int *b, int n, int m, int z) {
  int i = blockIdx.x, x = m, y = n ^ i;
  a[i] = x;
  if (y == m) return;
  x += y; b[i] = x;
}
extern "C" __global__ void late2(float *a, int *b, int n, int m, int z) {
  int i = blockIdx.x, x = m, y = n ^ i;
  a[i + 5] = x;
  y = y + 5;
  y = y ^ 6;
  if (y < 0) return;
  x += y; b[i] = x;
}
extern "C" __global__ void late3(int *a, int *b, int n, int m, int z) {
  int i = blockIdx.x, x = m, y = n ^ i;
  a[y] = x;
  y = y ^ m;
  if (y < 0) return;
  x += y; b[i] = x;
}
extern "C" __global__ void late4(int *a, int *b, int n, int m, int z) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, x = m, y = n ^ i;
  x = x * 3 + y;
  a[y] = x;
  y = y + 5;
  y = y * z;
  y = y + 7;
  y = y * i;
  y = y + z;
  if (y < 0) return;
  x += y; b[i] = x;
}
extern "C" __global__ void late5(int *a, int *b, int n, int m, int z) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, x = m, y = n ^ i;
  x = x * 3 + y;
  a[y] = x;
  y = y * z;
  y = y + z;
  y = y + z;
  y = y * 8;
  if (y < 0) return;
  x += y; b[i] = x;
}
extern "C" __global__ void late6(float *a, int *b, int n, int m, int z) {
  int i = blockIdx.x, x = m, y = n ^ i;
  a[i] = x;
  if (y == m) return;
  x += y; b[i] = x;
}
