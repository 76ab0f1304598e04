"""Random kernels of drawn statements: every family of instructions that CUDA C++ and inline PTX reach, in
branches, loops and switches, with early returns.  What scheduling makes of code from sm_100 on depends on such
mixtures more than on whole programs."""
import random

import builds
from generate import Item

INCLUDES = ("#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n#include <cuda_fp8.h>\n"
            "__constant__ int cst[64]; __constant__ float cf[16];\n")
PARAMETERS = "int *gi, float *gf, double *gd, int n, float x, cudaTextureObject_t to, cudaSurfaceObject_t so"
VARIABLES = [
    "__shared__ __align__(128) int s[256]; __shared__ float sf[128]; __shared__ double sd[64]; "
    "__shared__ unsigned long long mb; int a[16]; float fa[8]; for (int q = 0; q < 16; q++) a[q] = n; "
    "for (int q = 0; q < 8; q++) fa[q] = x; "
    "int i0 = threadIdx.x, i1 = n, i2 = gi[threadIdx.x], i3 = blockIdx.x * blockDim.x + threadIdx.x; "
    "unsigned u0 = i2, u1 = i3, u2 = n * 3; long long l0 = i2, l1 = n; float f0 = gf[threadIdx.x], f1 = x, f2 = i0; "
    "double d0 = f0, d1 = n; __half2 h0 = __float2half2_rn(f0), h1 = __float2half2_rn(x); "
    "__nv_bfloat162 b0 = __float2bfloat162_rn(x);"]
RESULTS = ["gi[i3] = i0 + i1 + i2 + i3;", "gi[i3 + 1] = u0 ^ u1 ^ u2;", "gf[i3] = f0 + f1 + f2;", "gd[i3] = d0 + d1;",
           "gd[i3 + 9] = l0 + l1;", "((__half2 *)gi)[i3] = h0;", "gf[i0] = a[0] + fa[3];"]
# In a statement I, U, L, F, D, H stand for a variable of that type, # for a small number.
SHARED = "(unsigned)__cvta_generic_to_shared(%s)"
TILE, BARRIER = SHARED % "&s[(I & 31) * 4]", SHARED % "&mb"
FAMILIES = {
    "int": ["I = I * I + I;", "U = __byte_perm(U, U, U);", "I = __dp4a(I, I, I);", "I = __dp2a_lo(I, I, I);",
            "U = __funnelshift_l(U, U, U);", "I = __popc(U);", "I = __clz(I);", "I = __ffs(I);", "U = __brev(U);",
            "I = __mulhi(I, I);", "U = __usad(U, U, U);", "I = min(I, I);", "I = I / 7;", "I = I / (I | 1);",
            "I = I % (I | 1);", "U = __fns(U, U & 31, #);", "I = abs(I);", "U = (U << (I & 31)) | (U >> 5);",
            "U = __vadd4(U, U);", "U = __vmaxs4(U, U);", "U = __vabsdiffu4(U, U);", "U = __vcmpgts2(U, U);"],
    "long": ["L = L * L + I;", "L = L / (L | 1);", "L = __mul64hi(L, L);", "L = (long long)((__int128)L * L >> 64);",
             "L = max(L, L);", "L = L >> (I & 63);", "I = __clzll(L);", "I = __popcll(L);", "L = (long long)D;",
             "L = (long long)F;", "F = (float)L;"],
    "dpx": ["I = __viaddmax_s32(I, I, I);", "I = __vimax3_s32_relu(I, I, I);", "U = __viaddmin_s16x2(U, U, U);",
            "U = __vimin3_u16x2(U, U, U);", "{ bool p, q; U = __vibmax_s16x2(U, U, &p, &q); if (p) I += q; }"],
    "float": ["F = fmaf(F, F, F);", "F = F / F;", "F = __fdividef(F, F);", "F = sqrtf(F);", "F = __expf(F);",
              "F = sinf(F);", "F = __sinf(F);", "F = rsqrtf(F);", "F = powf(F, F);", "F = tanhf(F);",
              "I = __float2int_rn(F);", "F = __int2float_rz(I);", "F = floorf(F);", "F = fmodf(F, F);",
              "F = __saturatef(F);", "F = fminf(F, F);", "F = ldexpf(F, I);", "F = __fmul_ru(F, F);",
              "I = isnan(F) ? 1 : I;"],
    "double": ["D = fma(D, D, D);", "D = D / D;", "D = sqrt(D);", "D = exp(D);", "D = (double)F;", "F = (float)D;",
               "D = floor(D);", "I = (int)D;", "D = I;", "if (D > D) D += D;", "D = fmax(D, D);", "D = rsqrt(D);"],
    "half": ["H = __hfma2(H, H, H);", "H = __hadd2(H, H);", "H = __h2div(H, H);", "H = h2exp(H);",
             "H = __hmax2(H, H);", "H = __floats2half2_rn(F, F);", "F = __low2float(H);", "H = h2sqrt(H);",
             "if (__hbgt2(H, H)) F += 1;", "F = __bfloat162float(b0.x);",
             "I = __nv_cvt_float_to_fp8(F, __NV_SATFINITE, __NV_E4M3);"],
    "memory": ["I = gi[I & 1023];", "gi[I & 1023] = I;", "F = gf[I & 1023];", "gf[I & 1023] = F;", "D = gd[I & 511];",
               "gd[I & 511] = D;", "{ float4 v = ((float4 *)gf)[I & 255]; F = v.x + v.y; F = v.z * v.w; }",
               "((int4 *)gi)[I & 255] = make_int4(I, I, I, I);", "F = __ldg(gf + (I & 1023));",
               "I = ((signed char *)gi)[I & 4095];", "((short *)gi)[I & 2047] = I;", "I += cst[I & 63];",
               "a[I & 15] = I;", "I = a[I & 15];", "fa[I & 7] = F;", "F = fa[I & 7];"],
    "shared": ["s[I & 255] = I;", "I = s[I & 255];", "__syncthreads();", "sf[I & 127] = F;", "F = sf[I & 127];",
               "atomicAdd(&s[I & 255], I);", "D = sd[I & 63];", "sd[I & 63] = D;", "I = __syncthreads_count(I > 0);",
               "I = __syncthreads_or(I);", "atomicCAS(&s[I & 255], I, I);", "I = atomicMax(&s[I & 255], I);"],
    "atomic": ["atomicAdd(gi + (I & 1023), I);", "I = atomicAdd(gi + (I & 1023), I);",
               "F = atomicAdd(gf + (I & 1023), F);", "atomicAdd(gd + (I & 511), D);",
               "I = atomicCAS(gi + (I & 1023), I, I);", "L = atomicExch((unsigned long long *)gd + (I & 511), L);",
               "atomicAdd(gi, 1);", "atomicAdd(gi + #, I);", "atomicMax(gi, I);", "atomicOr(gi + #, I);",
               "atomicAdd(gf, 1.0f);", "I = atomicAdd(gi + #, 1);",  # of the whole warp at once
               "I = atomicInc((unsigned *)gi + (I & 1023), U);", "atomicAdd((__half2 *)gi + (I & 1023), H);",
               "__threadfence();", "__threadfence_block();", "__threadfence_system();"],
    "warp": ["I = __shfl_xor_sync(~0u, I, #);", "F = __shfl_down_sync(~0u, F, I & 31);",
             "U = __ballot_sync(~0u, I > 0);", "if (__any_sync(~0u, I > 3)) I++;", "U = __match_any_sync(~0u, I);",
             "U = __activemask();", "__syncwarp();",
             "L = __shfl_sync(~0u, L, I & 31);", "D = __shfl_up_sync(~0u, D, 1);"],
    "register": ["U += clock();", "L += clock64();", "U = threadIdx.y;", "U = blockIdx.z * blockDim.x;",
                 'asm volatile("mov.u32 %0, %%laneid;" : "=r"(U));', "__nanosleep(U);", "__nanosleep(20);",
                 'asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(L));', 'asm volatile("pmevent 3;");'],
    "copy": ['asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" :: "r"(' + TILE + '), "l"(gi + (I & 63) * 4));',
             'asm volatile("cp.async.commit_group;");', 'asm volatile("cp.async.wait_group #;");',
             'asm volatile("cp.async.wait_all;");',
             'asm volatile("mbarrier.init.shared.b64 [%0], 32;" :: "r"(' + BARRIER + '));',
             '{ unsigned long long t; asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(t) : "r"('
             + BARRIER + ')); L = t; }',
             '{ int p; asm volatile("{ .reg .pred q; mbarrier.try_wait.parity.shared.b64 q, [%1], %2; '
             'selp.b32 %0, 1, 0, q; }" : "=r"(p) : "r"(' + BARRIER + '), "r"(U & 1)); I += p; }',
             'asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 64, [%2];" '
             ':: "r"(' + SHARED % "s" + '), "l"(gi), "r"(' + BARRIER + ') : "memory");',
             '{ int p; asm volatile("{ .reg .pred q; elect.sync _|q, -1; selp.b32 %0, 1, 0, q; }" : "=r"(p)); I += p; }',
             'asm volatile("fence.proxy.async;");', 'asm volatile("griddepcontrol.wait;");',
             'asm volatile("barrier.cluster.arrive;");', 'asm volatile("barrier.cluster.wait;");',
             'asm volatile("cp.async.bulk.commit_group;");', 'asm volatile("cp.async.bulk.wait_group 0;");',
             'asm volatile("bar.sync #, 64;");', 'asm volatile("bar.arrive 4, 64;");',
             'asm volatile("barrier.sync %0;" :: "r"(U & 7));'],
    "ptx": ['asm("lop3.b32 %0, %1, %2, %3, 0x9#;" : "=r"(U) : "r"(U), "r"(U), "r"(U));',
            'asm("bfe.s32 %0, %1, %2, %3;" : "=r"(I) : "r"(I), "r"(I), "r"(I));',
            'asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(U) : "l"(gi + (I & 1023)));',
            'asm volatile("st.release.sys.u32 [%0], %1;" :: "l"(gi + (I & 1023)), "r"(U));',
            'asm volatile("prefetch.global.L2 [%0];" :: "l"(gi + (I & 1023)));',
            'asm("bmsk.clamp.b32 %0, %1, %2;" : "=r"(U) : "r"(U), "r"(U));',
            'asm("szext.wrap.s32 %0, %1, %2;" : "=r"(I) : "r"(I), "r"(U));',
            'asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(L) : "r"(I), "r"(I), "l"(L));',
            'asm("cvt.rni.sat.s8.f32 %0, %1;" : "=r"(I) : "f"(F));'],
    "texture": ["F = tex2D<float>(to, F, F);", "F = tex1Dfetch<float>(to, I);", "surf2Dwrite(I, so, I, I);",
                "surf2Dread(&i0, so, I, I);", "F = tex2DLod<float>(to, F, F, F);",
                "{ float4 v = tex2Dgather<float4>(to, F, F, 1); F = v.y; }"],
    "later": ["I = __reduce_add_sync(~0u, I);", "U = __reduce_or_sync(__activemask(), U);",
              "b0 = __hfma2(b0, b0, __float22bfloat162_rn(make_float2(F, F)));"],
    "call": ["if (I == 17) printf(\"%d %f\\n\", I, F);", "I = helper(I, F);", "D = quotient(D, I);"],
}
NEWER = {"later": 80, "copy": 90}   # the least target
CONDITIONS = ["I > I", "F < F", "U & 4", "n > 9", "L != L", "threadIdx.x < 32", "I > n && F > 1.0f",
              "blockIdx.x == 0 || I == 3", "D > D && I < n", "H.x > H.y || F < x"]
VARIABLE = {"I": 4, "U": 3, "L": 2, "F": 3, "D": 2, "H": 2}
HELPERS = ("__device__ __noinline__ int helper(int a, float b) { return a * 3 + (int)b; }\n"
           "__device__ __noinline__ double quotient(double a, int b) { return a / b; }\n")


def fill(r, text):
    """Draws a variable for each letter that stands alone, and the numbers."""
    out = []
    for i, c in enumerate(text):
        around = text[i - 1:i] + text[i + 1:i + 2]
        if c in VARIABLE and not any(k.isalnum() or k == "_" for k in around):
            c = c.lower() + str(r.randrange(VARIABLE[c]))
        elif c == "#":
            c = str(r.randint(1, 2))
        out.append(c)
    return "".join(out)


def block(r, families, depth, count):
    """Statements, one string each, whatever is nested in them."""
    out = []

    def one():
        return fill(r, r.choice(FAMILIES[r.choice(families)]))

    def nested():
        return " ".join(block(r, families, depth - 1, r.randint(1, 4)))

    for _ in range(count):
        kind, condition = r.random(), fill(r, r.choice(CONDITIONS))
        if kind < 0.06:
            out.append("if (%s) return;" % condition)
        elif depth and kind < 0.16:
            other = " else { %s }" % nested() if r.random() < 0.4 else ""
            out.append("if (%s) { %s }%s" % (condition, nested(), other))
        elif depth and kind < 0.22:
            v = "k%d" % r.randrange(10**6)
            out.append("for (int %s = 0; %s < %s; %s++) { %s i2 += %s; }" % (
                v, v, r.choice(["n", "4", "i1"]), v, nested(), v))
        elif depth and kind < 0.25:
            out.append("while (%s) { %s if (!n--) break; }" % (condition, nested()))
        elif depth and kind < 0.27:
            out.append("switch (i1 & 3) { case 0: %s break; case 1: %s case 2: %s break; default: %s }" % (
                one(), one(), one(), one()))
        else:
            out.append(one())
    return out


def kernel(r, name, known):
    families = r.sample(known, r.randint(2, 5)) + (["memory"] if r.random() < 0.5 else [])
    early = ["if (i3 >= n) return;"] if r.random() < 0.3 else []
    return Item('extern "C" __global__ void %s(%s)' % (name, PARAMETERS), (),
                VARIABLES + early + block(r, families, 2, r.randint(4, 14)) + r.sample(RESULTS, r.randint(1, 6)))


def make(seed, job, archs):
    r = random.Random("statements/%s/%s" % (seed, job))
    arch = r.choice(archs)
    known = [f for f in FAMILIES if NEWER.get(f, 0) <= int("".join(filter(str.isdigit, arch)))]
    m = builds.Source(arch, list(r.choice(builds.FLAGS)), "cubin")
    m.items = [Item(INCLUDES + HELPERS, tail="")]
    m.items += [kernel(r, "k%d" % k, known) for k in range(r.randint(2, 6))]
    return builds.Build(arch, [m], [list(s) for s in r.choice(builds.CHAINS)])
