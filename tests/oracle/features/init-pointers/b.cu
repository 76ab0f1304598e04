struct Node {
    Node *next;
    int *d;
    const char *name;
    void (*f)(int *);
};
extern __device__ Node head;
__device__ int data[16] = {1, 2, 3, 4};
__constant__ float coef[4] = {1.f, 2.f, 3.f, 4.f};
__device__ void fn(int *p)
{
    p[1] = data[3];
}
__device__ Node tail = {&head, 0, "tail", fn};
