/* A load of a constant that took two cycles because of a wait takes one, and the branch behind one more. */
#define COUNT 16
#define STEPS 512
struct option { float price, strike, rate, up, down; };
static __constant__ option options[1024];
__device__ float results[1024];

__device__ inline float value(float price, float strike, float rate, int i)
{
    float d = price * __expf(rate * (2.0f * i - STEPS)) - strike;
    return d > 0 ? d : 0;
}

__global__ void tree()
{
    __shared__ float edge[129];
    const int t = threadIdx.x;
    const float price = options[blockIdx.x].price, strike = options[blockIdx.x].strike, rate = options[blockIdx.x].rate;
    const float up = options[blockIdx.x].up, down = options[blockIdx.x].down;
    float a[COUNT + 1];
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        a[i] = value(price, strike, rate, t * COUNT + i);
    if (t == 0)
        edge[128] = value(price, strike, rate, STEPS);
    int last = max(0, t * COUNT - 1);
#pragma unroll 16
    for (int i = STEPS; i > 0; i--) {
        edge[t] = a[0];
        __syncthreads();
        a[COUNT] = edge[t + 1];
        __syncthreads();
        if (i > last)
#pragma unroll
            for (int j = 0; j < COUNT; j++)
                a[j] = up * a[j + 1] + down * a[j];
    }
    if (t == 0)
        results[blockIdx.x] = a[0];
}
