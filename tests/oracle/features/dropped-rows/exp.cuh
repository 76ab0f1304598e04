







__device__ __forceinline__ double e(double x) {
    return exp(x); }
