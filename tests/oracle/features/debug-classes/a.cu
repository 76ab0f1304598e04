/* The same classes in both files: their tables and inline members are weak. */
struct named {
    int id;
    __device__ named(int i) : id(i) {}
    __device__ virtual int name() const { return id; }
    __device__ virtual ~named() {}
};
struct sized {
    double size;
    __device__ sized(double s) : size(s) {}
    __device__ virtual double area() const = 0;
    __device__ virtual ~sized() {}
};
struct square : named, sized {
    __device__ square(int i, double s) : named(i), sized(s) {}
    __device__ double area() const override { return size * size; }
    __device__ int name() const override { return id * 2; }
};
struct circle : virtual named, sized {
    __device__ circle(int i, double s) : named(i), sized(s) {}
    __device__ double area() const override { return 3.141592653589793 * size * size; }
};
extern __device__ sized *make_b(int, double);
extern __device__ double total_b(sized **, int);
__global__ void kernel_a(double *out, int n)
{
    sized *all[4];
    for (int i = 0; i < 4; i++)
        all[i] = i % 2 ? make_b(i, i + 0.5) : (sized *)new square(i, i + 0.25);
    out[threadIdx.x] = total_b(all, n);
    for (int i = 0; i < 4; i++) {
        delete all[i];
    }
}
