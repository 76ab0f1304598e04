#include <cuda/std/array>
#include <cuda/std/complex>
#include <cuda/std/functional>
#include <cuda/std/optional>
#include <cuda/std/tuple>
#include <cuda/std/variant>
namespace cs = cuda::std;
__device__ cs::optional<int> find(const cs::array<int, 8> &, int);
struct visitor {
    __device__ double operator()(int i) const { return i; }
    __device__ double operator()(double d) const { return d * 2; }
    __device__ double operator()(const cs::complex<float> &c) const { return c.real() + c.imag(); }
};
__global__ void kernel(double *out, int i)
{
    cs::variant<int, double, cs::complex<float>> v;
    if (i == 1)
        v = 2.5;
    else if (i == 2)
        v = cs::complex<float>(1, i) * cs::exp(cs::complex<float>(0, i));
    out[0] = cs::visit(visitor(), v);
    cs::array<int, 8> a{};
    a[i & 7] = i;
    out[1] = find(a, i).value_or(-1);
    auto t = cs::make_tuple(i, 2.0, 'c');
    out[2] = cs::get<0>(t) + cs::get<1>(t) + cs::get<2>(t);
}
