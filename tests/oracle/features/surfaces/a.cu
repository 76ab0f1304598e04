__device__ float sample(cudaTextureObject_t, float, float, int);
__device__ void put(cudaSurfaceObject_t, int, int, float4);
__global__ void blur(cudaSurfaceObject_t to, cudaTextureObject_t from, cudaTextureObject_t cube, int n)
{
    float4 c = texCubemap<float4>(cube, 1.f, threadIdx.x, 2.f);
    c.x += sample(from, threadIdx.x, threadIdx.y, n);
    uint4 g = tex2Dgather<uint4>(from, 0.5f, 0.25f, 1);
    c.y += g.x;
    put(to, threadIdx.x, threadIdx.y, c);
}
