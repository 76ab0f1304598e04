extern __device__ int data[16];
extern __constant__ float coef[4];
__device__ void fn(int *);
__device__ int *pd = data + 5;
__device__ int *pe = &data[15];
__device__ const char *msg = "first message";
__device__ const char *msgs[3] = {"one", "two", "first message"};
__device__ void (*pf)(int *) = fn;
__constant__ int *cp[2] = {data, data + 1};
struct Node {
    Node *next;
    int *d;
    const char *name;
    void (*f)(int *);
};
extern __device__ Node tail;
__device__ Node head = {&tail, data + 2, "head", fn};
__global__ void k(int *out, int i)
{
    head.next->f(out);
    pf(head.d);
    out[0] = *pd + *pe + msg[i] + msgs[i][0] + cp[i & 1][2] + (int)coef[i & 3];
}
