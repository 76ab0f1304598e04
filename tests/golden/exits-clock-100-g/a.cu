__constant__ float cm[64];
struct row { int location, next[64], key[64]; };
extern "C" __global__ void k6_15(const double2 *p, float *c, int n, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n || m == 0) return; auto v = p[i];
    v.x = v.x * m + v.y; v.y += p[i + 1].x; c[i] = v.x; if (v.x > v.y) c[0] = v.y; } 
extern "C" __global__ void k8_7(const double2 *p, float *c, int n, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n || m == 0) return; auto v = p[i];
    v.x = v.x * m + v.y; v.y -= p[i + 1].x; c[i] = v.x; if (v.x > v.y) c[0] = v.y; } 
extern "C" __global__ void k13_68(float *o,const float*q,float2*o2,float p,int n,int m) {
    __shared__ float s[1024]; __shared__ float2 s2[512]; int x=threadIdx.x*1,y=x+n;
    float a=p,b=p*x,e=2.f,d=s[x],f=a,g=p+1; int z=n; b=__shfl_xor_sync(~0u,b,4); f=f*d+1.f; __syncthreads();
    z=z*3+y; z^=z>>3; z^=z>>3; if (x>n&&p<2.f) return; y+=(int)clock(); y=__reduce_add_sync(~0u,y); g+=f;
    e=__shfl_xor_sync(~0u,d,1); z^=z>>3; f=f*a+1.f; g+=f; z=min(z,y); if (m!=0) return; o[x]=a+s[x+1];
    o[x+n]=b; o[x+4]=e*f+g; o[x+5]=d+y+z+s2[x].y; } 
extern "C" __global__ void k7_7(float *o,const float*q,float2*o2,float p,int n,int m) {
    __shared__ float s[1024]; __shared__ float2 s2[512]; int x=threadIdx.x*1,y=x+n;
    float a=p,b=1.f,e=2.f,d=p,f=a,g=p+1; int z=n; o2[x]=make_float2(d,d); d+=1.f; f=f*e+1.f; z=z*3+y; g=g*g+f;
    z=z*3+y; z=min(z,y); if (f>g) return; b=exp2f(e); f=f*d+1.f; y+=threadIdx.y; g+=f;
    a=__shfl_xor_sync(~0u,b,2); f=fmaxf(f,g); f=fmaxf(f,g); z=min(z,y); if (n<3) return; o[x]=a+s[x+1];
    o[x+n]=b; o[x+4]=e*f+g; o[x+5]=d+y+z+s2[x].y; } 
