// Sample for the demo, first half: two kernels that need code from mathlib.cu.
// Regenerate reduce.cubin as NOTE.md says.

extern __device__ float weigh(float value, int position);
extern __device__ float smooth(const float *window, int count);

extern __constant__ float window_weights[8];

// Sum of weighed values per block: shared memory and a barrier.
extern "C" __global__ void block_sum(const float *in, float *out, int n)
{
    __shared__ float partial[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    partial[threadIdx.x] = i < n ? weigh(in[i], i) : 0.0f;
    __syncthreads();
    for (int step = blockDim.x / 2; step > 0; step /= 2) {
        if (threadIdx.x < step)
            partial[threadIdx.x] += partial[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = partial[0];
}

// Smoothing over eight neighbours: a local array, so a stack frame.
extern "C" __global__ void smooth_line(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float window[8];
    for (int k = 0; k < 8; k++)
        window[k] = i + k < n ? in[i + k] * window_weights[k] : 0.0f;
    if (i < n)
        out[i] = smooth(window, n - i < 8 ? n - i : 8);
}
