/* Sums and differences over the lanes of a warp, of several values each. */
extern "C" __global__ void sums0(const float4 *a, float4 *b, float scale, int n) {
  float x[8];
  for (int c = 0; c < 2; c++)
    if (c * blockDim.x + threadIdx.x < n) {
      float4 t = a[blockIdx.x * n + c * blockDim.x + threadIdx.x];
      x[c * 4] = t.x, x[c * 4 + 1] = t.y, x[c * 4 + 2] = t.z, x[c * 4 + 3] = t.w;
    } else x[c * 4] = x[c * 4 + 1] = x[c * 4 + 2] = x[c * 4 + 3] = 0;
  for (int s = 1; s < 8; s *= 2)
    for (int j = 0; j < 8; j++)
      if (!(j & s)) { float p = x[j], q = x[j | s]; x[j] = p + q; x[j | s] = p - q; }
  for (int s = 0; s < 5; s++) {
    float sign = threadIdx.x & 1 << s ? -1 : 1;
    for (int j = 0; j < 8; j++) {
      float o = __shfl_xor_sync(~0u, x[j], 1 << s);
      x[j] = sign * x[j] + o;
    }
  }
  for (int c = 0; c < 2; c++)
    if (c * blockDim.x + threadIdx.x < n) {
      float4 t = {x[c * 4] * scale, x[c * 4 + 1] * scale, x[c * 4 + 2] * scale, x[c * 4 + 3] * scale};
      b[blockIdx.x * n + c * blockDim.x + threadIdx.x] = t;
    }
}
extern "C" __global__ void sums1(const float4 *a, float4 *b, float scale, int n) {
  float x[8];
  for (int c = 0; c < 2; c++)
    if (c * blockDim.x + threadIdx.x < n) {
      float4 t = a[blockIdx.x * n + c * blockDim.x + threadIdx.x];
      x[c * 4] = t.x, x[c * 4 + 1] = t.y, x[c * 4 + 2] = t.z, x[c * 4 + 3] = t.w;
    } else x[c * 4] = x[c * 4 + 1] = x[c * 4 + 2] = x[c * 4 + 3] = 0;
  for (int s = 1; s < 8; s *= 2)
    for (int j = 0; j < 8; j++)
      if (!(j & s)) { float p = x[j], q = x[j | s]; x[j] = p + q; x[j | s] = p - q; }
  for (int s = 0; s < 5; s++) {
    float sign = threadIdx.x & 1 << s ? -1 : 1;
    for (int j = 0; j < 8; j++) {
      float o = __shfl_xor_sync(~0u, x[j], 1 << s);
      x[j] = sign * x[j] + o;
    }
  }
  for (int c = 0; c < 2; c++)
    if (c * blockDim.x + threadIdx.x < n) {
      float4 t = {x[c * 4] * scale, x[c * 4 + 1] * scale, x[c * 4 + 2] * scale, x[c * 4 + 3] * scale};
      b[blockIdx.x * n + c * blockDim.x + threadIdx.x] = t;
    }
}
extern "C" __global__ void sums2(const float4 *a, float4 *b, float scale, int n) {
  float x[8];
  for (int c = 0; c < 2; c++)
    if (c * blockDim.x + threadIdx.x < n) {
      float4 t = a[blockIdx.x * n + c * blockDim.x + threadIdx.x];
      x[c * 4] = t.x, x[c * 4 + 1] = t.y, x[c * 4 + 2] = t.z, x[c * 4 + 3] = t.w;
    } else x[c * 4] = x[c * 4 + 1] = x[c * 4 + 2] = x[c * 4 + 3] = 0;
  for (int s = 1; s < 8; s *= 2)
    for (int j = 0; j < 8; j++)
      if (!(j & s)) { float p = x[j], q = x[j | s]; x[j] = p + q; x[j | s] = p - q; }
  for (int s = 0; s < 5; s++) {
    float sign = threadIdx.x & 1 << s ? -1 : 1;
    for (int j = 0; j < 8; j++) {
      float o = __shfl_xor_sync(~0u, x[j], 1 << s);
      x[j] = sign * x[j] + o;
    }
  }
  for (int c = 0; c < 2; c++)
    if (c * blockDim.x + threadIdx.x < n) {
      float4 t = {x[c * 4] * scale, x[c * 4 + 1] * scale, x[c * 4 + 2] * scale, x[c * 4 + 3] * scale};
      b[blockIdx.x * n + c * blockDim.x + threadIdx.x] = t;
    }
}
extern "C" __global__ void sums3(const float4 *a, float4 *b, float scale, int n) {
  float x[8];
  for (int c = 0; c < 2; c++)
    if (c * blockDim.x + threadIdx.x < n) {
      float4 t = a[blockIdx.x * n + c * blockDim.x + threadIdx.x];
      x[c * 4] = t.x, x[c * 4 + 1] = t.y, x[c * 4 + 2] = t.z, x[c * 4 + 3] = t.w;
    } else x[c * 4] = x[c * 4 + 1] = x[c * 4 + 2] = x[c * 4 + 3] = 0;
  for (int s = 1; s < 8; s *= 2)
    for (int j = 0; j < 8; j++)
      if (!(j & s)) { float p = x[j], q = x[j | s]; x[j] = p + q; x[j | s] = p - q; }
  for (int s = 0; s < 5; s++) {
    float sign = threadIdx.x & 1 << s ? -1 : 1;
    for (int j = 0; j < 8; j++) {
      float o = __shfl_xor_sync(~0u, x[j], 1 << s);
      x[j] = sign * x[j] + o;
    }
  }
  for (int c = 0; c < 2; c++)
    if (c * blockDim.x + threadIdx.x < n) {
      float4 t = {x[c * 4] * scale, x[c * 4 + 1] * scale, x[c * 4 + 2] * scale, x[c * 4 + 3] * scale};
      b[blockIdx.x * n + c * blockDim.x + threadIdx.x] = t;
    }
}
