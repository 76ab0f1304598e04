#include <cuda/atomic>
#include <cuda/barrier>
__device__ cuda::atomic<int, cuda::thread_scope_device> counter;
using Bar = cuda::barrier<cuda::thread_scope_block>;
__device__ void step(Bar *b)
{
    b->arrive_and_wait();
    counter.store(3, cuda::memory_order_release);
    b->arrive_and_wait();
}
