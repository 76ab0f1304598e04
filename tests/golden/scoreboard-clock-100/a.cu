__constant__ float cm[64];
extern "C" __global__ void k3_14(float *o,const float*q,float2*o2,float p,int n,int m) {
    __shared__ float s[1024]; __shared__ float2 s2[512]; int x=threadIdx.x*3,y=x+n;
    float a=p,b=q[x],e=2.f,d=p,f=a,g=p+1; int z=n; y^=blockIdx.x; z^=z>>3; z=z*3+y; f=f*b+1.f; z=min(z,y);
    z=z*3+y; g+=f; f=f*a+1.f; z^=z>>3; y=__reduce_add_sync(~0u,y); f=f*e+1.f; f=fmaxf(f,g); if (m!=0) return;
    o[x]=a+s[x+1]; o[x+n]=b; o[x+4]=e*f+g; o[x+5]=d+y+z+s2[x].y; } 
extern "C" __global__ void k0_75(float *o,const float*q,float2*o2,float p,int n,int m) {
    __shared__ float s[1024]; __shared__ float2 s2[512]; int x=threadIdx.x*3,y=x+n;
    float a=p,b=1.f,e=2.f,d=p,f=a,g=p+1; int z=n; if (y>78) { y^=blockIdx.x; } g+=f; a=q[x+3]; z^=z>>3;
    f=f*a+1.f; f=fmaxf(f,g); z=z*3+y; y^=blockIdx.z; f=f*e+1.f; f=f*e+1.f; g=g*g+f; if (m!=0) return;
    o[x]=a+s[x+1]; o[x+n]=b; o[x+4]=e*f+g; o[x+5]=d+y+z+s2[x].y; } 
extern "C" __global__ void k1_3(float *o,const float*q,float2*o2,float p,int n,int m) {
    __shared__ float s[1024]; __shared__ float2 s2[512]; int x=threadIdx.x*3,y=x+n;
    float a=p,b=q[x],e=2.f,d=p,f=a,g=p+1; int z=n; e=(float)y; g+=f; f=fmaxf(f,g); z=z*3+y; z=z*3+y;
    e=rsqrtf(a); f=fmaxf(f,g); f=fmaxf(f,g); y=__reduce_add_sync(~0u,y); y^=blockIdx.x; f=fmaxf(f,g); g=g*g+f;
    __syncwarp(); if (m!=0) return; o[x]=a+s[x+1]; o[x+n]=b; o[x+4]=e*f+g; o[x+5]=d+y+z+s2[x].y; } 
