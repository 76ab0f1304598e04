#include <cuda_fp8.h>

extern "C" __global__ void k5(int *gi, float *gf, double *gd, int n, float x,
                              cudaTextureObject_t to, cudaSurfaceObject_t so)
{
    __shared__ __align__(128) int s[256];
    __shared__ float sf[128];
    __shared__ double sd[64];
    __shared__ unsigned long long mb;
    int a[16];
    float fa[8];
    for (int q = 0; q < 16; q++)
        a[q] = n;
    for (int q = 0; q < 8; q++)
        fa[q] = x;
    int i0 = threadIdx.x, i1 = n, i2 = gi[threadIdx.x], i3 = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned u0 = i2, u1 = i3, u2 = n * 3;
    long long l0 = i2, l1 = n;
    float f0 = gf[threadIdx.x], f1 = x, f2 = i0;
    double d0 = f0, d1 = n;
    __half2 h0 = __float2half2_rn(f0), h1 = __float2half2_rn(x);
    __nv_bfloat162 b0 = __float2bfloat162_rn(x);
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 64, [%2];" ::
            "r"((unsigned)__cvta_generic_to_shared(s)),
        "l"(gi), "r"((unsigned)__cvta_generic_to_shared(&mb))
        : "memory");
    asm volatile(
        "mbarrier.init.shared.b64 [%0], 32;" ::"r"((unsigned)__cvta_generic_to_shared(&mb)));
    for (int k588613 = 0; k588613 < n; k588613++) {
        __syncwarp();
        __syncwarp();
        asm volatile("cp.async.bulk.commit_group;");
        if (u0 & 4) {
            i0 = __reduce_add_sync(~0u, i3);
        }
        i2 += k588613;
    }
    if (l0 != l1) {
        i2 = __reduce_add_sync(~0u, i0);
        b0 = __hfma2(b0, b0, __float22bfloat162_rn(make_float2(f2, f2)));
        asm volatile(
            "mbarrier.init.shared.b64 [%0], 32;" ::"r"((unsigned)__cvta_generic_to_shared(&mb)));
    }
    u0 = __reduce_or_sync(__activemask(), u2);
    while (d0 > d1 && i0 < n) {
        asm volatile("cp.async.wait_all;");
        u1 = __ballot_sync(~0u, i2 > 0);
        __syncthreads();
        if (!n--)
            break;
    }
    s[i1 & 255] = i1;
    if (l0 != l1) {
        u0 = __reduce_or_sync(__activemask(), u0);
        i0 = __shfl_xor_sync(~0u, i2, 2);
        while (blockIdx.x == 0 || i3 == 3) {
            l1 = __shfl_sync(~0u, l1, i1 & 31);
            if (__any_sync(~0u, i3 > 3))
                i2++;
            u0 = __activemask();
            if (!n--)
                break;
        }
        d0 = sd[i1 & 63];
    }
    if (i0 > i1) {
        asm volatile("cp.async.bulk.wait_group 0;");
    } else {
        __syncwarp();
        asm volatile("cp.async.wait_group 2;");
        if (blockIdx.x == 0 || i3 == 3)
            return;
        if (h0.x > h0.y || f0 < x) {
            u2 = __match_any_sync(~0u, i1);
            b0 = __hfma2(b0, b0, __float22bfloat162_rn(make_float2(f2, f2)));
            sf[i3 & 127] = f0;
        } else {
            asm volatile("cp.async.wait_group 1;");
            if (f0 < f1)
                return;
            i3 = __shfl_xor_sync(~0u, i2, 2);
            d0 = __shfl_up_sync(~0u, d1, 1);
        }
    }
    gd[i3] = d0 + d1;
    gi[i3 + 1] = u0 ^ u1 ^ u2;
}
