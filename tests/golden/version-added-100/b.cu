extern "C" __global__ void z(int*p){ *p=2; }
