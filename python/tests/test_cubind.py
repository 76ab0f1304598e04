"""The package against the library: links, kernels, findings, finalization, mistakes."""

import os
import threading

import pytest

import cubind

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
REDUCE = os.path.join(ROOT, "samples", "reduce.cubin")
MATHLIB = os.path.join(ROOT, "samples", "mathlib.cubin")
HOST = os.path.join(ROOT, "tests", "cases", "inputs", "host.o")
MERCURY = os.path.join(ROOT, "tests", "golden", "diamond-120-default", "expected.cubin")
TEMPLATES = os.path.join(ROOT, "tests", "golden", "templates-75-default", "expected.cubin")


def read(path):
    with open(path, "rb") as f:
        return f.read()


def link_samples(**options):
    return cubind.link([REDUCE, MATHLIB], arch="sm_90", **options)


def test_versions():
    assert cubind.library_version() == cubind.__version__


def test_link_of_paths_and_bytes():
    of_paths = link_samples()
    of_bytes = cubind.link([read(REDUCE), ("mathlib", bytearray(read(MATHLIB)))], arch="sm_90")
    assert of_paths.image[:4] == b"\x7fELF"
    assert of_paths.image == of_bytes.image
    assert of_paths.diagnostics == ()


def test_link_that_fails_says_why():
    with pytest.raises(cubind.Error) as caught:
        cubind.link([REDUCE], arch="sm_90")
    assert caught.value.status == cubind.Status.LINK
    first = caught.value.diagnostics[0]
    assert first.id == "undefined-reference" and first.severity == cubind.Severity.ERROR
    assert first.message in str(caught.value) and "used by smooth_line" in str(caught.value)


@pytest.mark.parametrize("arch, inputs, status", [
    ("sm_12", [REDUCE], cubind.Status.USAGE),
    ("sm_90", [], cubind.Status.USAGE),
    ("sm_90", ["no such file"], None),
    ("sm_90", [b"\x7fELF damaged"], None),
])
def test_mistakes_are_errors(arch, inputs, status):
    with pytest.raises(cubind.Error) as caught:
        cubind.link(inputs, arch=arch)
    assert status in (None, caught.value.status)
    assert str(caught.value)


def test_memory_limit():
    with pytest.raises(cubind.Error) as caught:
        link_samples(memory_limit=1000)
    assert caught.value.status == cubind.Status.NO_MEMORY


def test_flags_and_kernels_used():
    relocatable = link_samples(flags=cubind.LinkFlags.RELOCATABLE)
    assert relocatable.image != link_samples().image
    again = cubind.link([relocatable.image], arch="sm_90")
    names = {k.name for k in cubind.kernels(again.image)}
    one = sorted(names)[0]
    assert [k.name for k in cubind.kernels(link_samples(kernels_used=[one]).image)] == [one]


def test_options_of_compilers_reach_the_library(tmp_path):
    ptx = tmp_path / "k.ptx"
    ptx.write_text(".version 8.0\n.target sm_90\n.address_size 64\n" + "//\n" * 20)
    ptxas = tmp_path / "ptxas"
    ptxas.write_text("#!/bin/sh\necho \"$@\"\nexit 1\n")
    ptxas.chmod(0o755)
    with pytest.raises(cubind.Error) as caught:
        cubind.link([str(ptx)], arch="sm_90", ptxas=str(ptxas), ptxas_options=["-O1", "-v"], max_registers=40, cache="", threads=2)
    said = " ".join(d.message for d in caught.value.diagnostics)
    assert "-O1 -v" in said and "40" in said


def test_kernels():
    kernels = cubind.kernels(link_samples().image)
    assert kernels and all(k.is_kernel and k.arch == "sm_90" for k in kernels)
    for kernel in kernels:
        assert kernel.registers and kernel.code_size > 0
        assert [p.ordinal for p in kernel.parameters] == list(range(len(kernel.parameters)))
        assert kernel.param_base == 0x210 and kernel.max_registers >= 0 and kernel.max_cluster_rank == 0
        assert kernel.param_size >= sum(p.size for p in kernel.parameters)
    assert any("<" in k.demangled and "<" not in k.name for k in cubind.kernels(TEMPLATES))
    assert len(cubind.functions(MATHLIB)) > len(cubind.kernels(MATHLIB))


def test_container():
    with cubind.Container(HOST) as container:
        assert container.content == "a host object"
        (info,) = container.images
        assert info.version == (1, 8)
        assert (info.kind, info.arch, info.compression) == ("cubin", "sm_90", "zstd")
        image = container.open(0)
    assert image.bytes()[:4] == b"\x7fELF" and len(image.bytes()) == info.size
    image.close()
    with pytest.raises(ValueError):
        image.bytes()
    with pytest.raises(ValueError):
        container.open(0)


def test_image_of_bytes_outlives_its_container():
    container = cubind.Container(read(HOST))
    image = container.open(0)
    container.close()
    del container
    assert image.functions()


def test_check():
    assert [f for f in cubind.check(link_samples().image) if not f.is_note] == []
    damaged = bytearray(read(REDUCE))
    damaged[60:62] = b"\xff\x00"
    findings = cubind.check(bytes(damaged))
    assert findings and findings[0].rule and findings[0].message


def test_no_device_code():
    assert cubind.kernels(b"some text") == []
    with pytest.raises(cubind.Error):
        cubind.Container("no such file")


def test_finalize():
    linked = read(MERCURY)
    same = cubind.finalize(linked, arch="sm_120")
    assert [k.name for k in cubind.kernels(same)] == [k.name for k in cubind.kernels(linked)]
    with pytest.raises(cubind.Error) as caught:
        cubind.finalize(linked, arch="sm_100")
    assert caught.value.status == cubind.Status.UNSUPPORTED and "sm_100" in str(caught.value)
    with pytest.raises(cubind.Error):
        cubind.finalize(read(REDUCE), arch="sm_103")


def test_threads():
    want = link_samples().image
    results = []

    def work():
        for _ in range(10):
            results.append(link_samples().image == want)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(results) == 40 and all(results)
