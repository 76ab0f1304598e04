// Textures and surfaces of one to three dimensions, cubes, arrays, gradients, and two surfaces side by side.
#define PARAMETERS                                                                                                  \
    cudaTextureObject_t s, cudaTextureObject_t t, cudaSurfaceObject_t a, cudaSurfaceObject_t b, float *p,           \
        const float *__restrict__ q, int *w, int x, int y, int l, float u, float v

__device__ float sum4(float4 a) { return a.x + a.y * a.z + a.w; }

__global__ void surfaces(PARAMETERS)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x, j = x, k = i + l;
    float f = u, g = v, h = p[i];
    if ((i ^ y) < l)
        return;
    u += surf3Dread<float>(b, l, y, y);
    h += surf1Dread<float>(a, i ^ y);
    g += tex2DGrad<float>(s, p[i], f * g, make_float2(f, q[j]), make_float2(p[i], g));
    p[k] = f;
    p[i] = g + h;
}

__global__ void levels(PARAMETERS)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x, k = y;
    float f = u, g = v, h = q[x];
    f += sum4(surf2Dread<float4>(b, k, l));
    for (int m = 0; m < l; m++)
        g += tex2D<float>(t, (float)i, p[i]);
    v = __expf(h + 1.5f);
    if ((float)i > y)
        v = tex2DLod<float>(t, q[x], (float)i, v);
    h = tex3DLod<float>(s, q[x], h + 1.5f, h, q[x]);
    f += surf1Dread<float>(b, threadIdx.x);
    p[k] = f;
    p[i] = g + h;
}

__global__ void cubes(PARAMETERS)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x, j = w[i], k = i + l;
    float f = u, g = v, h = 1.f;
    if (x < y)
        return;
    g = tex3D<float>(s, f * g, g, f);
    v = tex1DGrad<float>(s, q[j], v, g);
    v = surf2Dread<float>(b, j, i);
    surf1Dwrite(f * g, b, i + 4);
    v *= texCubemap<float>(t, q[j], f, v);
    h = surf1Dread<float>(b, j);
    f += tex2DLayeredLod<float>(t, f, p[i], i, f);
    p[k] = f;
    p[i] = g + h;
}
