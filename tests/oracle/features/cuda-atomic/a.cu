#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cooperative_groups.h>
extern __device__ cuda::atomic<int, cuda::thread_scope_device> counter;
using Bar = cuda::barrier<cuda::thread_scope_block>;
__device__ void step(Bar *b);
__global__ void k(int *p)
{
    __shared__ Bar b;
    if (threadIdx.x == 0)
        init(&b, blockDim.x);
    __syncthreads();
    step(&b);
    p[0] = counter.fetch_add(2);
}
__global__ void pipe(int *p)
{
    __shared__ int buf[128];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> st;
    auto g = cooperative_groups::this_thread_block();
    auto q = cuda::make_pipeline(g, &st);
    q.producer_acquire();
    cuda::memcpy_async(g, buf, p, sizeof(int) * 32, q);
    q.producer_commit();
    q.consumer_wait();
    p[threadIdx.x] = buf[threadIdx.x & 31];
    q.consumer_release();
}
