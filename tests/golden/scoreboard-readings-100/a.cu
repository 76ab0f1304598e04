/* Rows that are copied or filled, by a key of each column, in two loops. */
extern "C" __global__ void tile(float *out, int unused, int n, const float *in, int rows, const float *fill,
                                const float *keys) {
  for (int c = threadIdx.x; c < n; c += blockDim.x) {
    int key = (int)keys[blockIdx.x * n + c];
    for (int i = blockIdx.x * rows; i < (blockIdx.x + 1) * rows; i++)
      out[i * n + c] = key ? fill[c] : in[i % rows * n + c];
  }
}
extern "C" __global__ void branch(float *__restrict__ out, const int m, const int n, const float *__restrict__ in, const int rows,
                                  float *__restrict__ to, const float *__restrict__ fill) {
  int c = threadIdx.x, r = blockIdx.x * n;
  while (c < n) {
    int key = (int)out[r + c];
    for (int i = blockIdx.x * rows; i < blockIdx.x * rows + rows; i += 1) {
      if (key == 0)
        to[i * n + c] = in[(i % rows) * n + c];
      else
        to[i * n + c] = fill[c];
    }
    c += blockDim.x;
  }
}
