#include "x.cuh"

__global__ void ka(V<double>*p,double*q){*q=p->dot(p[1]);}
