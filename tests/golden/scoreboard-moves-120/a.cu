extern "C" __global__ void k16(const float*v,long long*o,float*f,int n){
 int t=threadIdx.x; __shared__ long long s[256]; __shared__ float z[256];
 float a0=v[t+0*n]; long long i0=o[t+0*n];
 float a1=v[t+1*n]; long long i1=o[t+1*n];
 { float b=__shfl_down_sync(~0u,a0,4); long long j=__shfl_down_sync(~0u,i0,4);
  float b1=__shfl_down_sync(~0u,a1,4); long long j1=__shfl_down_sync(~0u,i1,4);
  if((t&31)+4<n){ 
if(b<a0){a0=b;i0=j;} else if(b==a0) i0=i0<j?i0:j;
if(a1*a1<b1*b1){i1=i1<j1?i1:j1;a1=b1;}else if(b1*b1<a1){i1=j1;}
  } }
 { float b=__shfl_down_sync(~0u,a0,8); long long j=__shfl_down_sync(~0u,i0,8);
  float b1=__shfl_down_sync(~0u,a1,8); long long j1=__shfl_down_sync(~0u,i1,8);
  if((t&31)+8<n){ 
if(b<a0||(b==a0&&j<i0)){a0=b;i0=j;}
if(b1>a1){a1=b1;i1=j1;} else i1=i1>j1?i1:j1;
  } }
 { float b=__shfl_down_sync(~0u,a0,1); long long j=__shfl_down_sync(~0u,i0,1);
  float b1=__shfl_down_sync(~0u,a1,1); long long j1=__shfl_down_sync(~0u,i1,1);
  if((t&31)+1<n){ 
if(b<a0){a0=b;i0=j;} else if(b==a0) i0=i0<j?i0:j;
if(b1>a1){a1=b1;i1=j1;} else i1=i1>j1?i1:j1;
  } }
 f[t+0*n]=a0;o[t+0*n]=i0;
 f[t+1*n]=a1;o[t+1*n]=i1;
}
