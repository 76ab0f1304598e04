__constant__ float cm[64];
extern "C" __global__ void k0_19(float *o,const float*q,float2*o2,float4*o4,float*o3,float p,int n,int m) {
    int x=threadIdx.x*n,y=x+n; float a=p,b=q[x],f=a,g=p+1,h=q[x+1],u=2,v=p; int z=n,w=m; bool c=p>b;
    if (c) h=q[y]; o[x+n]=a; f=b; a+=2.f; g=g*3.f; f=fmaxf(f,g); z=z*3+y; f=fmaxf(f,g); if (p<b) return;
    o[x+1]=a+f; o[x+n+2]=b*g; o3[x+4]=h+z+w; o3[x+5]=y+u*v; } 
extern "C" __global__ void k11_57(float *o,const float*q,float2*o2,float4*o4,float*o3,float p,int n,int m) {
    int x=threadIdx.x*n,y=x+n; float a=p,b=q[x],f=a,g=p+1,h=q[x+1],u=2,v=p; int z=n,w=m; bool c=y<m;
    if (c) f+=b; z=z*3+y; w^=w>>3; y+=w; o[x+n]=a; f=b; a+=2.f; g=g*3.f; f=fmaxf(f,g); __syncthreads();
    if (!c) return; o[x+1]=a+f; o[x+n+2]=b*g; o3[x+4]=h+z+w; o3[x+5]=y+u*v; } 
extern "C" __global__ void k8_16(float *o,const float*q,float2*o2,float4*o4,float*o3,float p,int n,int m) {
    int x=threadIdx.x*3,y=x+n; float a=p,b=q[x],f=a,g=p+1,h=q[x+1],u=2,v=p; int z=n,w=m; bool c=m>7&&x>4;
    if (c) h=q[y]; h=h*a; h+=f; f=f*a+1.f; y+=w; v+=b; u=u*u+a; o4[x]=make_float4(f,g,a,b); f=2.f*b; a+=2.f;
    g=g*3.f; y+=w; w=min(w,y); __syncthreads(); if (x>n) return; o[x+1]=a+f; o[x+n+2]=b*g; o3[x+4]=h+z+w;
    o3[x+5]=y+u*v; } 
extern "C" __global__ void k10_53(float *o,const float*q,float2*o2,float p,int n,int m) {
    __shared__ float s[1024]; __shared__ float2 s2[512]; int x=threadIdx.x*1,y=x+n;
    float a=p,b=p*x,e=2.f,d=p,f=a,g=p+1; int z=n; d=exp2f(b); s2[x]=make_float2(a,d); d=a*2.f; __syncwarp();
    z^=z>>3; if (a>b) return; e=__shfl_xor_sync(~0u,a,2); f=f*d+1.f; if (y>z) return; o[x]=a+s[x+1]; o[x+n]=b;
    o[x+4]=e*f+g; o[x+5]=d+y+z+s2[x].y; } 
extern "C" __global__ void k14_35(float *o,const float*q,float2*o2,float p,int n,int m) {
    __shared__ float s[1024]; __shared__ float2 s2[512]; int x=threadIdx.x*n,y=x+n;
    float a=p,b=1.f,e=2.f,d=q[x+1],f=a,g=p+1; int z=n; if (y>58) { y+=(int)clock(); } z^=z>>3; g=g*g+f;
    g=g*g+f; f=fmaxf(f,g); o2[x]=make_float2(b,a); b+=1.f; z^=z>>3; z=z*3+y; z=z*3+y; g=g*g+f; b+=s[x+128];
    z=min(z,y); f=fmaxf(f,g); if (y>50) { a=exp2f(e); } g+=f; f=f*b+1.f; z=min(z,y); z=min(z,y);
    __syncthreads(); __syncthreads(); if (f>g) return; o[x]=a+s[x+1]; o[x+n]=b; o[x+4]=e*f+g;
    o[x+5]=d+y+z+s2[x].y; } 
extern "C" __global__ void k8_4(float *o,const float*q,float2*o2,float p,int n,int m) {
    __shared__ float s[1024]; __shared__ float2 s2[512]; int x=threadIdx.x*n,y=x+n;
    float a=p,b=1.f,e=2.f,d=q[x+1],f=a,g=p+1; int z=n; e=rsqrtf(a); y^=blockIdx.y; g+=f; f=f*e+1.f; g=g*g+f;
    g+=f; __syncwarp(); if (x>n) return; o[x]=a+s[x+1]; o[x+n]=b; o[x+4]=e*f+g; o[x+5]=d+y+z+s2[x].y; } 
extern "C" __global__ void k6_69(float *o,const float*q,float2*o2,float p,int n,int m) {
    __shared__ float s[1024]; __shared__ float2 s2[512]; int x=threadIdx.x*n,y=x+n;
    float a=p,b=1.f,e=2.f,d=p,f=a,g=p+1; int z=n; y=__reduce_add_sync(~0u,y); a=q[x+100]; y=__popc(y)+4;
    z^=z>>3; z=z*3+y; f=fmaxf(f,g); g=g*g+f; o2[x]=make_float2(d,d); d+=1.f; z=z*3+y; z=z*3+y; z^=z>>3;
    f=f*a+1.f; f=fmaxf(f,g); f=f*d+1.f; z=min(z,y); z=z*3+y; __syncthreads(); __syncthreads(); g+=f;
    if (n<3) return; d=__int_as_float(__ffs(y)); z=min(z,y); f=fmaxf(f,g); g+=f; f=f*b+1.f; f=fmaxf(f,g);
    z=min(z,y); z^=z>>3; g+=f; y^=blockIdx.z; z=min(z,y); z=min(z,y); if (y>35) { y=__popc(y)+6; }
    if (x>n&&p<2.f) return; o[x]=a+s[x+1]; o[x+n]=b; o[x+4]=e*f+g; o[x+5]=d+y+z+s2[x].y; } 
extern "C" __global__ void k7_62(float *o,const float*q,float2*o2,float p,int n,int m) {
    __shared__ float s[1024]; __shared__ float2 s2[512]; int x=threadIdx.x*3,y=x+n;
    float a=p,b=p*x,e=2.f,d=q[x+1],f=a,g=p+1; int z=n; o[x+9]=e; e=e+1.5f; __syncthreads(); if (x>n) return;
    e=cm[y&63]; g+=f; f=f*d+1.f; g=g*g+f; z=min(z,y); o2[x]=make_float2(e,a); e+=1.f; __syncthreads();
    f=f*a+1.f; if (y>z) return; o[x]=a+s[x+1]; o[x+n]=b; o[x+4]=e*f+g; o[x+5]=d+y+z+s2[x].y; } 
