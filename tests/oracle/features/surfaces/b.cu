__device__ float sample(cudaTextureObject_t t, float x, float y, int layer)
{
    return tex2DLayered<float>(t, x, y, layer) + tex3DLod<float>(t, x, y, 1.f, 2.f) + tex1Dfetch<float>(t, layer) +
           tex2DGrad<float>(t, x, y, make_float2(1, 2), make_float2(3, 4));
}
__device__ void put(cudaSurfaceObject_t s, int x, int y, float4 v)
{
    surf2Dwrite(v, s, x * 16, y, cudaBoundaryModeZero);
    float f;
    surf3Dread(&f, s, x * 4, y, 3, cudaBoundaryModeClamp);
    surf2DLayeredwrite(f, s, x * 4, y, 1, cudaBoundaryModeTrap);
}
__global__ void copy(cudaSurfaceObject_t s, float *out)
{
    out[threadIdx.x] = surf1Dread<float>(s, threadIdx.x * 4);
}
