#ifndef PART_H
#define PART_H

extern __device__ int scale(int x);
extern __device__ int counter;
extern __constant__ int table[16];
typedef int (*operation)(int);
extern __device__ operation chosen;

struct shape {
    int sides;
    __device__ shape(int n) : sides(n) {}
    __device__ virtual int area(int x) const;
};

template <typename T> __device__ T twice(T x)
{
    return x + x + (T)table[3];
}

void launch_part(int *data, int n);

#endif
