#!/usr/bin/env python3
"""Links at run time through nvJitLink as Python's users of it do, and runs what comes out.

usage: jit.py api|bindings|bindings-lto|core|numba|numba-lto ARCH

api: not through nvJitLink, but with cubind's Python package, out of memory.

The last line names the library that did it (cubind's stand-in, or NVIDIA's).  Exit 77: what is
needed is not installed; 1: an error or a wrong result.
"""

import ctypes
import os
import sys
import tempfile

SKIP = 77
COUNT = 64
KERNEL = r"""
extern __device__ int twice(int);
__device__ int calls = 5;
extern "C" __global__ void fill(int *out, int n)
{
    int i = threadIdx.x;
    if (i < n)
        out[i] = twice(i) + calls;
}
"""
FUNCTION = r"""
extern __device__ int calls;
__device__ int twice(int x) { return 2 * x + calls; }
"""
WANTED = [2 * i + 10 for i in range(COUNT)]


def which_library():
    with open("/proc/self/maps") as f:
        names = {line.split()[-1] for line in f if "nvJitLink" in line or "libcubind" in line}
    return "cubind" if any("libcubind" in n for n in names) else "NVIDIA's" if names else "none"


def check(status, *values):
    if int(status) != 0:
        raise RuntimeError("status %s" % status)
    return values[0] if len(values) == 1 else values


def run_image(image):
    """Loads a cubin and launches fill."""
    from cuda.bindings import driver
    check(*driver.cuInit(0))
    device = check(*driver.cuDeviceGet(0))
    context = check(*driver.cuDevicePrimaryCtxRetain(device))
    check(*driver.cuCtxSetCurrent(context))
    module = check(*driver.cuModuleLoadData(image))
    function = check(*driver.cuModuleGetFunction(module, b"fill"))
    at = check(*driver.cuMemAlloc(4 * COUNT))
    check(*driver.cuLaunchKernel(function, 1, 1, 1, COUNT, 1, 1, 0, 0,
                                 ((int(at), COUNT), (ctypes.c_void_p, ctypes.c_int)), 0))
    check(*driver.cuCtxSynchronize())
    out = (ctypes.c_int * COUNT)()
    check(*driver.cuMemcpyDtoH(ctypes.addressof(out), at, 4 * COUNT))
    return list(out)


def compiled(text, arch, lto):
    from cuda.bindings import nvrtc
    program = check(*nvrtc.nvrtcCreateProgram(text.encode(), b"a.cu", 0, [], []))
    options = [b"-arch=sm_" + arch.encode(), b"-rdc=true"] + [b"-dlto"] * lto
    check(*nvrtc.nvrtcCompileProgram(program, len(options), options))
    size, get = (nvrtc.nvrtcGetLTOIRSize, nvrtc.nvrtcGetLTOIR) if lto else \
        (nvrtc.nvrtcGetCUBINSize, nvrtc.nvrtcGetCUBIN)
    out = bytearray(check(*size(program)))
    data = b" " * len(out)
    check(*get(program, data))
    return data


def by_bindings(arch, lto):
    from cuda.bindings import nvjitlink
    kind = nvjitlink.InputType.LTOIR if lto else nvjitlink.InputType.CUBIN
    options = ["-arch=sm_" + arch] + ["-lto"] * lto
    handle = nvjitlink.create(len(options), options)
    for number, text in enumerate((KERNEL, FUNCTION)):
        data = compiled(text, arch, lto)
        nvjitlink.add_data(handle, kind, data, len(data), "in%d" % number)
    nvjitlink.complete(handle)
    image = bytearray(nvjitlink.get_linked_cubin_size(handle))
    nvjitlink.get_linked_cubin(handle, image)
    return run_image(bytes(image))


def by_api(arch):
    import cubind
    parts = [compiled(text, arch, False) for text in (KERNEL, FUNCTION)]
    return run_image(bytes(cubind.link(parts, arch="sm_" + arch).image))


def by_core(arch):
    try:
        from cuda.core import Linker, LinkerOptions, Program, ProgramOptions
    except ImportError:
        from cuda.core.experimental import Linker, LinkerOptions, Program, ProgramOptions
    from cuda.bindings import driver
    check(*driver.cuInit(0))
    device = check(*driver.cuDeviceGet(0))
    check(*driver.cuCtxSetCurrent(check(*driver.cuDevicePrimaryCtxRetain(device))))
    options = ProgramOptions(std="c++17", arch="sm_" + arch, relocatable_device_code=True)
    parts = [Program(text, "c++", options).compile("cubin") for text in (KERNEL, FUNCTION)]
    image = Linker(*parts, options=LinkerOptions(arch="sm_" + arch)).link("cubin")
    return run_image(image.code)


def by_numba(lto):
    import numpy
    from numba import cuda
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, "twice.cu")
    with open(path, "w") as f:
        f.write("__device__ int calls = 10;\n"
                'extern "C" __device__ int twice(int *result, int x) '
                "{ *result = 2 * x + calls; return 0; }\n")
    twice = cuda.declare_device("twice", "int32(int32)")

    @cuda.jit("void(int32[:])", link=[path], lto=lto)
    def fill(out):
        i = cuda.threadIdx.x
        if i < out.size:
            out[i] = twice(i)

    out = cuda.to_device(numpy.zeros(COUNT, dtype=numpy.int32))
    fill[1, COUNT](out)
    return [int(x) for x in out.copy_to_host()]


def main():
    part, arch = sys.argv[1], sys.argv[2]
    lto = part.endswith("-lto")
    try:
        if part.startswith(("bindings", "api")):
            import cuda.bindings.nvjitlink  # noqa: F401
        elif part == "core":
            import cuda.core  # noqa: F401
        else:
            import numpy
            for old, new in (("row_stack", "vstack"), ("trapz", "trapezoid"), ("in1d", "isin")):
                if not hasattr(numpy, old):  # gone from newer ones, and older ones of numba ask
                    setattr(numpy, old, getattr(numpy, new))
            import numba.cuda  # noqa: F401
    except ImportError as e:
        print("not installed: %s" % e)
        return SKIP
    if part.startswith("bindings"):
        got = by_bindings(arch, lto)
    elif part == "api":
        got = by_api(arch)
    elif part == "core":
        got = by_core(arch)
    else:
        got = by_numba(lto)
    if got != WANTED:
        print("wrong result: %s" % got[:8])
        return 1
    print("right result, linked by %s" % which_library())
    return 0


if __name__ == "__main__":
    sys.exit(main())
