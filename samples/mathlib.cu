// Sample for the demo, second half: the device functions and the table that reduce.cu uses.
// Regenerate mathlib.cubin as NOTE.md says.

__constant__ float window_weights[8] = {0.05f, 0.1f, 0.15f, 0.2f, 0.2f, 0.15f, 0.1f, 0.05f};
__device__ unsigned int calls;

__device__ __noinline__ float weigh(float value, int position)
{
    return value * (float)(position % 7 + 1);
}

__device__ __noinline__ float smooth(const float *window, int count)
{
    atomicAdd(&calls, 1u);
    float sum = 0.0f;
    for (int k = 0; k < count; k++)
        sum += window[k];
    return sum;
}

// Nothing calls this one: the link drops it.
__device__ __noinline__ float never_called(float value)
{
    return value * value + 1.0f;
}
