template <int K> __device__ void rows(const uint4 *in, uint4 *out, int n) {
  __shared__ unsigned s[32];
  int t = threadIdx.x, lane = t & 31;
  uint4 q = in[blockIdx.x * blockDim.x + t];
  unsigned v[16] = {q.x & 255, q.x >> 8 & 255, q.x >> 16 & 255, q.x >> 24, q.y & 255, q.y >> 8 & 255, q.y >> 16 & 255, q.y >> 24,
                    q.z & 255, q.z >> 8 & 255, q.z >> 16 & 255, q.z >> 24, q.w & 255, q.w >> 8 & 255, q.w >> 16 & 255, q.w >> 24};
  for (int k = 1; k < 16; k++) v[k] += v[k - 1];
  for (int d = 1; d < 32; d *= 2) {
    unsigned o = __shfl_up_sync(~0u, v[15], d);
    if (lane >= d)
      for (int k = 0; k < 16; k++) v[k] += o;
  }
  if (lane == 31) s[t / 32] = v[15];
  __syncthreads();
  if (t < 32) {
    unsigned sum = s[t];
    for (int d = 1; d < 32; d *= 2) {
      unsigned o = __shfl_up_sync((1ull << blockDim.x / 32) - 1, sum, d);
      if (t >= d) sum += o;
    }
    s[t] = sum;
  }
  __syncthreads();
  if (t >= 32)
    for (int k = 0; k < 16; k++) v[k] += s[t / 32 - 1];
  int place = lane % 4;
  for (int j = 0; j < 4; j++) {
    uint4 r = {v[0], v[1], v[2], v[3]};
    for (int k = 1; k < 4; k++)
      if ((place + j) % 4 == k) r = uint4{v[4 * k], v[4 * k + 1], v[4 * k + 2], v[4 * k + 3]};
    out[blockIdx.x * n + t / 4 * 16 + j * 4 + place] = r;
    if (K & 1)
    for (int k = 0; k < 16; k++) v[k] = __shfl_sync(~0u, v[k], 1 + j, 32);
    else if (j < 2) for (int k = 0; k < 16; k++) v[k] = __shfl_xor_sync(~0u, v[k], 1 + j, 32);
  }
}
extern "C" __global__ void a0(const uint4 *in, uint4 *out, int n) { rows<0>(in, out, n); }
extern "C" __global__ void a1(const uint4 *in, uint4 *out, int n) { rows<1>(in, out, n); }
