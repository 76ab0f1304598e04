#include <cuda/std/array>
#include <cuda/std/optional>
namespace cs = cuda::std;
__device__ cs::optional<int> find(const cs::array<int, 8> &a, int value)
{
    for (int i = 0; i < 8; i++)
        if (a[i] == value)
            return i;
    return cs::nullopt;
}
