extern "C" __global__ void k11(const float*__restrict__ g,float*o,const int*q,int n,float f,float h,int m){
 __shared__ float s[1024]; int t=threadIdx.x; g+=t; o+=t;
 float x0=f*0+t; 
 float x1=g[1*n]; 
 float x2=f*2+t; 
 float x3=h+t*3; 
 float x4=f*4+t; 
 float x5=f*5+t; 
 float x6=h+t*6; 
 float x7=g[7*n]; 
 float x8=f*8+t; 
 float x9=h+t*9; 
 float x10=h+t*10; 
 float x11=f*11+t; 
 float x12=g[12*n]; 
 float x13=g[13*n]; 
 float x14=f*14+t; 
 float x15=g[960]; 
 int k0=t*m,k1=t^n,k2=q[t],k3=t+m;
 k1=__popc(k2)+k1;
 k3=__popc(k0)+k3;
 s[t+33]=x2;
 x5+=g[1*n+22];
 x0=__shfl_xor_sync(~0u,x3,4)+x3;
 k3=__popc(k3)+k3;
 x14=s[(k1&511)+0]+x2;
 x0+=g[2*n+30];
 if(k0>0*m){x0+=x5; k2^=k0; s[k0&255]=x1;}
 k3=__popc(k0)+k3;
 x11=__shfl_xor_sync(~0u,x8,8)+x0;
 s[t+64]=x8;
 if(k1>4*m){x8+=x8; k2^=k1; x9=g[k1&255];}
 x1+=__int2float_rn(k0);
 x13+=__int2float_rn(k3);
 if(k3>0*m){x13+=x10; k0^=k3; x13=__shfl_xor_sync(~0u,x3,1);__syncthreads();}
 __syncthreads();
 o[256]=x10*x12;
 x12+=__int2float_rn(k3);
 x8+=__int2float_rn(k3);
 if(k3>3*m){x8+=x10; k0^=k3; x8=__shfl_xor_sync(~0u,x3,1);__syncthreads();}
 k2=__popc(k0)+k2;
 x3=__shfl_xor_sync(~0u,x9,16)+x8;
 x6=__shfl_xor_sync(~0u,x8,4)+x2;
 if(k1>2*m){x6+=x8; k2^=k1; x2=g[k1&255];}
 x12+=__int2float_rn(k1);
 x15=__expf(x8)*x7;
 if(k3>2*m){x15+=x8; k2^=k3; x15=__shfl_xor_sync(~0u,x7,1);__syncthreads();}
 x4=__expf(x15)*x15;
 x15+=g[4*n+2];
 if(k1>6*m){x15+=x12; k0^=k1; x15=__shfl_xor_sync(~0u,x5,1);__syncthreads();}
 x5=x15*x5+x5;x5+=x15;
 x3+=__int2float_rn(k3);
 k1=__popc(k0)+k1;
 x2+=g[6*n+29];
 if(k1>3*m){x2+=x8; k2^=k1; s[k1&255]=x7;}
 x15=__expf(x12)*x15;
 __syncthreads();
 k0=__popc(k1)+k0;
 x11=__expf(x9)*x2;
 o[9]=x3; if(k1>n)return;
 o[0]=x0;
 o[1024]=x1;
 o[2048]=x2;
 o[3072]=x3;
 o[4096]=x4;
 o[5120]=x5;
 o[6144]=x6;
 o[7168]=x7;
 o[8192]=x8;
 o[9216]=x9;
 o[10240]=x10;
 o[11264]=x11;
 o[12288]=x12;
 o[13312]=x13;
 o[14336]=x14;
 o[15360]=x15;
 o[k0&255]=k1+k2*k3;}
