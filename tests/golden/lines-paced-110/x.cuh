template<class T> struct V { T a[4];
 __device__ __noinline__ T dot(const V&o) const {
  T r=0;
  r+=a[0]*o.a[0];
  r+=a[1]*o.a[1];
  r+=a[2]*o.a[2];
  r+=a[3]*o.a[3];
  return r; } };
