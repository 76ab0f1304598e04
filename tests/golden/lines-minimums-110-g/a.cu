__device__ __forceinline__ int least(int u, int v)
{
#line 10
    int w = u < v ? u : v;
#line 70
    return w + (w > 5 ? w : 5);
}
__global__ void k(int *p, int n, int m)
{
    int x = p[1], a = p[0], b = p[2];
#line 40
    p[16] = a * b > 36 ? a * b : 36;
#line 30
    p[10] = x * 3 + least(a, n);
#line 10
    x = a + 7 < n ? a + 7 : n;
#line 20
    if (b == m)
        return;
#line 40
    p[17] = p[5] < m ? p[5] : m;
#line 10
    p[12] = x * 3 + least(a, n);
#line 30
    p[21] = a < 8 ? a : 8;
#line 20
    if (a == n)
        return;
#line 41
    p[29] = x + 7 > n ? x + 7 : n;
#line 40
    p[18] = x < n ? x : n;
#line 30
    p[19] = least(b, m) + least(x, p[9]);
}
