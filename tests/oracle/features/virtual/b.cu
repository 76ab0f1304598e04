#include "s.h"
__device__ float Square::area() const
{
    return a * a;
}
__device__ float Circle::area() const
{
    return 3.14f * r * r;
}
__device__ Shape *make(int i, float x)
{
    if (i)
        return new Square(x);
    return new Circle(x);
}
