__global__ void clamp(long long *p, long long n)
{
    long long a = p[0], b = p[1];
    if (a == 5)
        return;
    p[0] = min(a, 17ll);
    p[1] = max(a, n);
    p[3] = max(a + b, n);
    if (b == n)
        return;
    p[4] = min(a + b, p[5]);
    p[7] = max(a ^ b, 7ll);
}
