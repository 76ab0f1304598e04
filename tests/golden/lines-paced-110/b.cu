#include "x.cuh"
__global__ void kb(V<double>*p,double*q){*q=p->dot(p[1])+1;}
