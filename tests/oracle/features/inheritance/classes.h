/* The same classes in both files: their tables and inline members are weak. */
struct named {
    int id;
    __device__ named(int i) : id(i)
    {
    }
    __device__ virtual int name() const
    {
        return id;
    }
    __device__ virtual ~named()
    {
    }
};
struct sized {
    double size;
    __device__ sized(double s) : size(s)
    {
    }
    __device__ virtual double area() const = 0;
    __device__ virtual ~sized()
    {
    }
};
struct square : named, sized {
    __device__ square(int i, double s) : named(i), sized(s)
    {
    }
    __device__ double area() const override
    {
        return size * size;
    }
    __device__ int name() const override
    {
        return id * 2;
    }
};
struct circle : virtual named, sized {
    __device__ circle(int i, double s) : named(i), sized(s)
    {
    }
    __device__ double area() const override
    {
        return 3.141592653589793 * size * size;
    }
};
extern __device__ sized *make_b(int, double);
extern __device__ double total_b(sized **, int);
