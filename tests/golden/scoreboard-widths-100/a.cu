struct row { int location, next[64], key[64]; };
extern "C" __global__ void k12_3(float *o,const float*q,float2*o2,float p,int n,int m) {
    __shared__ float s[1024]; __shared__ float2 s2[512]; int x=threadIdx.x*1,y=x+n;
    float a=p,b=q[x],e=2.f,d=p,f=a,g=p+1; int z=n; atomicAdd(&s[y&255],a); __syncwarp(); f=fmaxf(f,g); g+=f;
    z=z*3+y; if (x>n&&p<2.f) return; o[x]=a+s[x+1]; o[x+n]=b; o[x+4]=e*f+g; o[x+5]=d+y+z+s2[x].y; } 
extern "C" __global__ void k8_16(float *o,const float*q,float2*o2,float4*o4,float*o3,float p,int n,int m) {
    int x=threadIdx.x*3,y=x+n; float a=p,b=q[x],f=a,g=p+1,h=q[x+1],u=2,v=p; int z=n,w=m; bool c=m>7&&x>4;
    if (c) h=q[y]; h=h*a; h+=f; f=f*a+1.f; y+=w; v+=b; u=u*u+a; o4[x]=make_float4(f,g,a,b); f=2.f*b; a+=2.f;
    g=g*3.f; y+=w; w=min(w,y); __syncthreads(); if (x>n) return; o[x+1]=a+f; o[x+n+2]=b*g; o3[x+4]=h+z+w;
    o3[x+5]=y+u*v; } 

    extern "C" __global__ void k9_31(long n, const struct row *rows, long *at, long *to, const int *low, int *out) {
    int t = threadIdx.x, b = blockIdx.x; for (int i = 0; i < n; i++) { out[t + 2] = n; if (t == 0) {
    at[b] = to[b]; } } if (rows[at[b + 1]].key[t] <= low[t]) to[b + 1] = rows[at[b + 1]].next[t];
    if (rows[at[b + 1]].key[t] <= low[t]) to[b + 1] = rows[at[b + 1]].next[t]; if (t == 0) { at[b] = to[b]; }
    } 
