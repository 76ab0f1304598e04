/* 300 kernels with debug data: more than the 256 items from which on threads share them.
 * kernels-debug.tar.xz holds what nvcc 13.0.88 made of it: -G -rdc=true -cubin -arch=sm_100. */
#define KERNEL(n) \
    extern "C" __global__ void k##n(int *p) \
    { \
        p[0] = p[1] + n; \
    }
#define TEN(n) \
    KERNEL(n##0) KERNEL(n##1) KERNEL(n##2) KERNEL(n##3) KERNEL(n##4) \
    KERNEL(n##5) KERNEL(n##6) KERNEL(n##7) KERNEL(n##8) KERNEL(n##9)
#define HUNDRED(n) \
    TEN(n##0) TEN(n##1) TEN(n##2) TEN(n##3) TEN(n##4) \
    TEN(n##5) TEN(n##6) TEN(n##7) TEN(n##8) TEN(n##9)
HUNDRED(1)
HUNDRED(2)
HUNDRED(3)
