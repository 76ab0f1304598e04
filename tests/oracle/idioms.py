"""Kernels as programs have them, with drawn details: products of matrices, reductions, scans, histograms, stencils,
searches, hash tables, graphs, sorts; and what found rules of exits and loops: shared memory and barriers of the block
in front of early exits, stores under conditions in loops that the compiler unrolls, arithmetic on uniform floats."""
import random
import re

import builds
from generate import Item

# In a text one of «a¦b» is drawn; REAL, ANY, WHOLE stand for a type, the same one throughout a kernel.
TYPES = {"REAL": ["float", "float", "double"], "WHOLE": ["int", "unsigned", "unsigned long long"],
         "ANY": ["float", "double", "int", "unsigned", "long long", "unsigned char", "short", "__half"]}
AT = "int i = blockIdx.x * blockDim.x + threadIdx.x; "
END = "«¦if (i >= n) return; ¦if (i >= n || m == 0) return; »"
UNROLL = '«¦_Pragma("unroll") ¦_Pragma("unroll 2") ¦_Pragma("unroll 4") ¦_Pragma("unroll 1") »'
PLANE = AT + "int j = blockIdx.y * blockDim.y + threadIdx.y; «¦if (i >= n || j >= m) return; »"
IDIOMS = [
    ("const REAL *a, const REAL *b, REAL *c, int n, int m",
     "__shared__ REAL s[16][16], u[16][«16¦17»]; int x = threadIdx.x, y = threadIdx.y, q = blockIdx.x * "
     "16 + x, r = blockIdx.y * 16 + y; REAL v = 0; for (int k = 0; k < n; k += 16) { s[y][x] = «a[r * n "
     "+ k + x]¦r < m && k + x < n ? a[r * n + k + x] : 0»; u[y][x] = b[(k + y) * m + q]; "
     "__syncthreads(); " +
     UNROLL +
     "for (int j = 0; j < 16; j++) v += s[y][j] * u[j][x]; __syncthreads(); } «¦if (r < m && q < n) »c[r "
     "* m + q] = v;"),
    ("const «float¦double¦int» *a, float *c, int n, int m",
     "__shared__ float s[256]; int t = threadIdx.x; " +
     AT +
     "float v = 0; for (; i < n; i += «gridDim.x * blockDim.x¦m») v += a[i]; «¦for (int d = 16; d; d >>= "
     "1) v += __shfl_«down¦xor»_sync(~0u, v, d); »s[t«¦ >> 5»] = v; __syncthreads(); «for (int d = "
     "blockDim.x / 2; d; d >>= 1) { if (t < d) s[t] += s[t + d]; __syncthreads(); }¦if (t < 32) { v = "
     "s[t]; for (int d = 16; d; d >>= 1) v += __shfl_down_sync(~0u, v, d); s[0] = v; }» if (t == 0) "
     "«c[blockIdx.x] = s[0]¦atomicAdd(c, s[0])»;"),
    ("«int¦float¦unsigned» *a, float *sum, int n, int m",
     "__shared__ float s[512]; int t = threadIdx.x, o = 1; " +
     AT +
     "s[t] = i < n ? a[i] : 0; s[t + 256] = i + 256 < n ? a[i + 256] : 0; for (int d = «256¦m»; d; d >>= "
     "1) { __syncthreads(); if (t < d) s[o * (2 * t + 2) - 1] += s[o * (2 * t + 1) - 1]; o *= 2; } if (t "
     "== 0) { «¦sum[blockIdx.x] = s[511]; »s[511] = 0; } for (int d = 1; d < 512; d *= 2) { o >>= 1; "
     "__syncthreads(); if (t < d) { int x = o * (2 * t + 1) - 1, y = o * (2 * t + 2) - 1; float w = "
     "s[x]; s[x] = s[y]; s[y] += w; } } __syncthreads(); if (i < n) a[i] = s[t]; if (i + 256 < n) a[i + "
     "256] = s[t + 256];"),
    ("const «unsigned char¦int¦float» *a, int *h, int n, int m",
     "__shared__ int s[256]; for (int j = threadIdx.x; j < 256; j += blockDim.x) s[j] = 0; "
     "__syncthreads(); " +
     AT +
     "for (; i < n; i += blockDim.x * gridDim.x) { int v = (int)a[i]; «¦if (v < m) »atomicAdd(&s[«v & "
     "255¦v / m»], «1¦v»); } __syncthreads(); for (int j = threadIdx.x; j < 256; j += blockDim.x) if "
     "(s[j]) atomicAdd(&h[j], s[j]);"),
    ("const REAL *a, REAL *c, int n, int m, REAL p",
     PLANE +
     UNROLL +
     "for (int z = «0¦1»; z < m; z++) { int q = (z * m + j) * n + i; REAL v = a[q] * p + a[q - 1] + a[q "
     "+ 1]«¦ + a[q - n] + a[q + n]» + a[q - n * m]; «¦if (v > p) v = p; ¦v = v / p; »c[q] = v; }"),
    ("const ANY *a, const ANY *q, int *r, int n, int m",
     AT +
     END +
     "float v = (float)q[i]; int lo = 0, hi = n; while (lo < hi) { int mid = «(lo + hi) / 2¦lo + ((hi - "
     "lo) >> 1)»; if ((float)a[mid] < v) lo = mid + 1; else hi = mid; «¦if ((float)a[lo] == v) break; »} "
     "r[i] = «lo¦lo < n ? lo : -1»;"),
    ("WHOLE *tab, const WHOLE *keys, WHOLE *vals, int n, int m",
     AT +
     END +
     "WHOLE k = keys[i]; unsigned h = (unsigned)(k * 40503) & (m - 1); while (true) { WHOLE o = "
     "atomicCAS(&tab[h], (WHOLE)0, k); if (o == 0 || o == k) { «vals[h] = i¦atomicAdd(&vals[h], "
     "(WHOLE)1)¦atomicMax(&vals[h], k)»; «return¦break»; } h = (h + 1) & (m - 1); «¦if (h == i) return; "
     "»}"),
    ("const int *off, const int *adj, int *dist, int *flag, int n, int m",
     AT +
     END +
     "if (dist[i] == m) for (int e = off[i]; e < off[i + 1]; e++) { int v = adj[e]; if (dist[v] «< 0¦> m "
     "+ 1») { «dist[v] = m + 1¦atomicMin(&dist[v], m + 1)¦atomicExch(&dist[v], m + 1)»; *flag = 1; } }"),
    ("const REAL *p, REAL *f, int n, REAL e, int m",
     AT +
     END +
     "REAL x = p[i * 4], y = p[i * 4 + 1], s = 0, u = 0; " +
     UNROLL +
     "for (int j = 0; j < n; j++) { REAL a = p[j * 4] - x, b = p[j * 4 + 1] - y, d = a * a + b * b + e, "
     "v = «rsqrt(d)¦p[j * 4 + 3] / (d * sqrt(d))¦1 / d»; s += v * a; u += v * b; } f[i * 2] = s; f[i * 2 "
     "+ 1] = u;"),
    ("int *o, int n, int m, REAL x0, REAL y0, REAL s",
     PLANE +
     "REAL cx = x0 + i * s, cy = y0 + j * s, x = 0, y = 0; int k = 0; while (k < m && x * x + y * y < "
     "«4¦s») { REAL u = x * x - y * y + cx; y = 2 * x * y + cy; x = u; k++; «¦if (k == n) break; »} o[j "
     "* n + i] = k;"),
    ("unsigned long long *st, float *o, int n, int m",
     AT +
     END +
     "unsigned long long s = st[i]; int in = 0; " +
     UNROLL +
     "for (int j = 0; j < «m¦64»; j++) { s = s * 6364136223846793005ULL + «1¦i»; float x = (s >> 33) * "
     "4.6566e-10f, y = «(unsigned)(s >> 32) * 2.3e-10f¦__uint_as_float((unsigned)(s >> 41) | 0x3f800000) "
     "- 1»; if (x * x + y * y < 1) in++; } o[i] = «in¦4.0f * in / m¦logf(in + 1.0f)»; st[i] = s;"),
    ("«int¦float¦unsigned» *a, int n, int m",
     "__shared__ float s[1024]; int t = threadIdx.x; s[t] = a[t]; s[t + 512] = a[t + 512]; for (int k = "
     "2; k <= «1024¦n»; k <<= 1) for (int j = k >> 1; j; j >>= 1) { __syncthreads(); int i = 2 * t - (t "
     "& (j - 1)); float x = s[i], y = s[i + j]; if ((x > y) == ((i & k) == 0)) { s[i] = y; s[i + j] = x; "
     "} } __syncthreads(); a[t] = s[t]; a[t + 512] = s[t + 512];"),
    ("const ANY *a, ANY *c, int n, int m",
     "__shared__ ANY s[32][«32¦33»]; int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + "
     "threadIdx.y; " +
     UNROLL +
     "for (int j = 0; j < 32; j += 8) if (x < n && y + j < m) s[threadIdx.y + j][threadIdx.x] = a[(y + "
     "j) * n + x]; __syncthreads(); x = blockIdx.y * 32 + threadIdx.x; y = blockIdx.x * 32 + "
     "threadIdx.y; " +
     UNROLL +
     "for (int j = 0; j < 32; j += 8) «¦if (x < m && y + j < n) »c[(y + j) * m + x] = "
     "s[threadIdx.x][threadIdx.y + j];"),
    ("REAL *a, int n, int m",
     "__shared__ REAL s[32][33]; int t = threadIdx.x; for (int i = 0; i < 32; i++) s[i][t] = a[(m + i) * "
     "n + t]; __syncthreads(); for (int i = 0; i < 31; i++) { if (t > i) { for (int j = 0; j < i; j++) "
     "s[t][i] -= s[t][j] * s[j][i]; s[t][i] /= s[i][i]; } __syncthreads(); if (t > i) " +
     UNROLL +
     "for (int j = 0; j < i + 1; j++) s[i + 1][t] -= s[i + 1][j] * s[j][t]; __syncthreads(); } for (int "
     "i = 1; i < 32; i++) a[(m + i) * n + t] = s[i][t];"),
    ("const int *row, const int *col, const REAL *val, const REAL *x, REAL *y, int n, int m",
     AT +
     END +
     "int l = threadIdx.x & 31; REAL s = 0; for (int e = row[i] + l; e < row[i + 1]; e += 32) s += "
     "val[e] * «x[col[e]]¦__ldg(x + col[e])»; «¦for (int d = 16; d; d >>= 1) s += __shfl_down_sync(~0u, "
     "s, d); »if («l == 0¦s > m») y[i] = s;"),
    ("const «float4¦int2¦double2¦uchar4¦short2¦int4» *p, float *c, int n, int m",
     AT +
     END +
     "auto v = p[i]; v.x = v.x * m + v.y; v.y «¦+¦-»= p[i + 1].x; c[i] = v.x; «¦c[i + n] = p[m].x; ¦if "
     "(v.x > v.y) c[0] = v.y; »"),
]
TILE_STEPS = [
    "for (int j = 0; j < 3; j++) s[x + j * «32¦100¦1024»] = v[j];", "a += s[x + «32¦64¦128»]; b += s[x + 64];",
    "«a = ¦b += »s[x];", "x = x «+ 1¦* n¦^ w¦/ 2»;", "a = __shfl_xor_sync(~0u, b, «1¦2¦4»);"]
ROW_STEPS = [
    "if (rows[at[b]].key[t] <= low[«b¦t»] && rows[at[b]].key[t + 1] > low[b]«¦ && rows[to[b]].next[t] < n») "
    "to[b] = rows[at[b]].next[t];", "if (rows[at[b + 1]].key[t] <= low[t]) to[b + 1] = rows[at[b + 1]].next[t];",
    "if (t == 0) { at[b] = to[b]; «¦out[b] += 1; »}", "__syncthreads();", "out[t + «1¦2¦3»] = «to[b]¦n»;",
    "atomicAdd(out + t, 1);"]
FLOATS = ["(P + P)", "(P - P)", "(P * P)", "fminf(P, P)", "fabsf(P)", "(P < P ? P : P)", "rintf(P)", "(float)(int)(P)",
          "powf(P, P)", "__half2float(__float2half(P))"]


def draw(r, text):
    while "«" in text:
        text = re.sub("«([^«»]*)»", lambda m: r.choice(m[1].split("¦")), text)
    for name, types in TYPES.items():
        text = re.sub(r"\b%s\b" % name, r.choice(types), text)
    return text


def idiom(r):
    return tuple(draw(r, x) for x in draw(r, "\0".join(r.choice(IDIOMS))).split("\0"))


def tile(r):
    """Shared memory, barriers of the block and exits, in any order."""
    out = ["__shared__ float s[4096]; int t = threadIdx.x, x = t «¦* 2¦+ p[t]»; "
           "float a = «0¦o[t]», b = 1, v[3] = {1, 2, 3};"]
    for _ in range(r.randint(2, 6)):
        step = r.choice(TILE_STEPS)
        out.append("«¦if (t < 32) ¦if (x > w) ¦if ((t & 31) == 0) »{ %s }" % step if "shfl" not in step else step)
        out.append("«¦__syncthreads();¦__syncthreads();»«¦¦if («t > n¦x > w¦t > 32 && n < w») return;»")
    out.append("x = t * n; o[x * 4] = a; o[x + n] = b; o[x + 9] = v[n & 1];")
    return "float *o, const int *p, int n, int w", draw(r, " ".join(out))


def rows(r):
    """A loop of stores under conditions, and some behind it."""
    steps = [r.choice(ROW_STEPS) for _ in range(r.randint(3, 8))]
    inside = r.randint(2, len(steps))
    return ("long n, const struct row *rows, long *at, long *to, const int *low, int *out",
            draw(r, "int t = threadIdx.x, b = blockIdx.x; for («int¦long» i = 0; i < n; i++) { %s } %s" % (
                " ".join(steps[:inside]), " ".join(steps[inside:]))))


def uniform(r):
    """Arithmetic on parameters, which is the same in all threads, and exits between."""
    known, out, results = ["a", "b", "c", "2.5f"], [], []

    def value(depth):
        if not depth or r.random() < 0.2:
            return r.choice(known)
        return re.sub("P", lambda m: value(depth - 1), r.choice(FLOATS))

    for k in range(r.randint(1, 5)):
        out.append("float v%d = %s;" % (k, value(3)))
        if r.random() < 0.4:
            out.append("for (int j = 0; j < m; j++) v%d += %s * j;" % (k, value(2)))
        out.append(r.choice(["", "", "if (m < 3) return;", "if ((int)threadIdx.x > n && a < b) return;"]))
        known.append("v%d" % k)
        results.append("o[threadIdx.x + %d] = v%d;" % (k * 100, k))
    return "float *o, float a, float b, float c, int n, int m", " ".join(out + results)


def kernel(r, name):
    parameters, body = r.choice([idiom, idiom, tile, rows, uniform])(r)
    return Item('extern "C" __global__ void %s(%s)' % (name, parameters), (), [body])


def make(seed, job, archs):
    r = random.Random("idioms/%s/%s" % (seed, job))
    arch = r.choice(archs)
    m = builds.Source(arch, list(r.choice(builds.FLAGS)), "cubin")
    m.items = [Item("#include <cuda_fp16.h>\nstruct row { int location, next[64], key[64]; };\n", tail="")]
    m.items += [kernel(r, "k%d" % k) for k in range(r.randint(2, 6))]
    return builds.Build(arch, [m], [list(s) for s in r.choice(builds.CHAINS)])
