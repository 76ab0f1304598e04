__device__ float fetch(cudaTextureObject_t t, float x, float y);
__device__ void put(cudaSurfaceObject_t s, int x, float v);
__global__ void k(cudaTextureObject_t t, cudaSurfaceObject_t s, float *p)
{
    p[0] = fetch(t, p[1], p[2]) + tex3D<float>(t, p[0], p[1], p[2]);
    put(s, threadIdx.x, p[0]);
}
