__device__ cudaTextureObject_t saved;
__device__ float fetch(cudaTextureObject_t t, float x, float y)
{
    saved = t;
    float4 v = tex2D<float4>(t, x, y);
    return v.x + v.w + tex1Dfetch<float>(t, 3);
}
__device__ void put(cudaSurfaceObject_t s, int x, float v)
{
    surf1Dwrite(v, s, x * 4);
}
