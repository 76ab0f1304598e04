extern "C" __global__ void k11_14(const int *in, int *out, int *lock, volatile int *flags, int n, unsigned m) { __shared__ int s[1024]; int v0 = in[threadIdx.x], v1 = in[n], v2 = threadIdx.x; __syncthreads();
  for (int i = 0; i < n; i++) { if (v1 > v0) { out[threadIdx.x + 137] = v1; __syncthreads(); } else { __syncthreads(); } }
  if (threadIdx.x < 0) { while (atomicCAS(lock + 1, 0, 1) != 0) ; }
  if (threadIdx.x < n) { while (atomicCAS(lock + 0, 0, 1) != 0) ; }
  for (int i = 0; i < n; i++) { s[threadIdx.x + 32] = v0; v2 += __shfl_xor_sync(~0u, v2, 13); }
  while (*(volatile int *)(lock + 0) < v2) __nanosleep(352);
  v2 += __shfl_xor_sync(~0u, v2, 26); out[n] = v0 + v1 * 3 + v2 * 5; }
extern "C" __global__ void k14_18(const int *in, int *out, int *lock, volatile int *flags, int n, unsigned m) { __shared__ int s[1024]; int v0 = in[threadIdx.x], v1 = in[n], v2 = threadIdx.x; if (v1 < n) s[threadIdx.x] = v1;
  do { v0 = flags[threadIdx.x + 364]; __threadfence(); } while (v0 == 0);
  if (v2 > v2) { if (blockIdx.x * 256 + threadIdx.x < n) s[threadIdx.x] = v1; if (threadIdx.x < n) { while (atomicCAS(lock + 3, 0, 1) != 0) ; } } 
  for (int i = 0; i < n; i++) { if (threadIdx.x < n) s[threadIdx.x] = v2; v1 += s[threadIdx.x * 1 + 41]; v2 += __shfl_xor_sync(~0u, v2, 11); }
  if (threadIdx.x < n) { out[v0] = s[threadIdx.x + n]; v2++; }
  do { v2 = flags[threadIdx.x + 557]; __threadfence(); } while (v2 == 0);
  __syncthreads();
  __syncthreads();
  while (*(volatile int *)(lock + 1) < 3) __nanosleep(757);
  __syncthreads();
  while (*(volatile int *)(lock + 3) < n) __nanosleep(83); out[n] = v0 + v1 * 3 + v2 * 5; }
extern "C" __global__ void k6_24(const int *in, int *out, int *lock, volatile int *flags, int n, unsigned m) { __shared__ int s[1024]; int v0 = in[threadIdx.x], v1 = in[n], v2 = threadIdx.x; out[threadIdx.x + 696] = v1;
  s[threadIdx.x + 83] = v1;
  if (blockIdx.x * 256 + threadIdx.x < n) out[threadIdx.x] = v2;
  if (threadIdx.x == n) { while (atomicCAS(lock + 0, 0, 1)) __threadfence(); }
  for (int i = 0; i < n; i++) { out[threadIdx.x + 842] = v2; if (v1 > v2) { v2 += s[threadIdx.x * 2 + 27]; } else { __syncthreads(); } if (v1 > 7) { out[threadIdx.x + 473] = v0; if (threadIdx.x < 0) { while (atomicCAS(lock + 1, 0, 1)) __threadfence(); } } else { if (blockIdx.x * 256 + threadIdx.x < n) out[threadIdx.x] = v0; } }
  for (int i = 0; i < n; i++) { out[threadIdx.x + 412] = v0; out[threadIdx.x + 812] = v0; if (threadIdx.x == n) { while (atomicCAS(lock + 3, 0, 1)) ; } }
  out[threadIdx.x + 94] = v1;
  __syncthreads();
  while (*(volatile int *)(lock + 0) < n) __nanosleep(348);
  if (v0 > n) { v0 += __shfl_xor_sync(~0u, v0, 19); out[threadIdx.x + 359] = v1; } else { v1 += __shfl_xor_sync(~0u, v1, 26); }
  if (blockIdx.x * 256 + threadIdx.x < n) s[threadIdx.x] = v2; out[n] = v0 + v1 * 3 + v2 * 5; }
