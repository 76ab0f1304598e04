#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;
__device__ void halves(__half2 *, int);
template <typename T, typename A> __device__ void multiply(const T *a, const T *b, A *c)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, T, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, T, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, A> fc;
    wmma::fill_fragment(fc, A(0));
    wmma::load_matrix_sync(fa, a, 16);
    wmma::load_matrix_sync(fb, b, 16);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}
__global__ void half_kernel(const __half *a, const __half *b, float *c, __half2 *d)
{
    multiply(a, b, c);
    halves(d, threadIdx.x);
}
__global__ void byte_kernel(const signed char *a, const signed char *b, int *c)
{
    multiply(a, b, c);
}
#if __CUDA_ARCH__ >= 800
__global__ void bfloat_kernel(const __nv_bfloat16 *a, const __nv_bfloat16 *b, float *c)
{
    multiply(a, b, c);
}
#endif
