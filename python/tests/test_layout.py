"""Every structure and number of the package is what the headers say."""

import ctypes
import os
import re
import shutil
import subprocess

import pytest

import cubind
from cubind import _library

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
STRUCTURES = {
    "cb_diagnostic": _library.Diagnostic, "cb_allocator": _library.Allocator, "cb_link_options": _library.LinkOptions,
    "cb_finalize_options": _library.FinalizeOptions, "cb_inspect_options": _library.InspectOptions,
    "cb_image_info": _library.ImageInfo, "cb_param": _library.Param, "cb_function": _library.Function,
    "cb_finding": _library.Finding,
}


def layout_by_compiler(folder):
    lines = ["#include <stdio.h>", "#include <stddef.h>", "#include <cubind/inspect.h>", "int main(void) {"]
    for name, structure in STRUCTURES.items():
        lines.append('printf("%s %%zu\\n", sizeof(%s));' % (name, name))
        for field, _ in structure._fields_:
            lines.append('printf("%s.%s %%zu %%zu\\n", offsetof(%s, %s), sizeof(((%s *)0)->%s));' % ((name, field) * 3))
    source = os.path.join(folder, "layout.c")
    with open(source, "w") as f:
        f.write("\n".join(lines + ["return 0; }"]))
    program = os.path.join(folder, "layout")
    subprocess.run(["cc", "-I" + os.path.join(ROOT, "include"), source, "-o", program], check=True)
    return subprocess.run([program], check=True, stdout=subprocess.PIPE, text=True).stdout.split("\n")[:-1]


@pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler")
def test_structures(tmp_path):
    mine = []
    for name, structure in STRUCTURES.items():
        mine.append("%s %d" % (name, ctypes.sizeof(structure)))
        for field, _ in structure._fields_:
            descriptor = getattr(structure, field)
            mine.append("%s.%s %d %d" % (name, field, descriptor.offset, descriptor.size))
    assert mine == layout_by_compiler(str(tmp_path))


def header():
    with open(os.path.join(ROOT, "include", "cubind", "cubind.h")) as f:
        return f.read()


def test_flags():
    in_header = {m[0]: int(m[1]) for m in re.findall(r"#define CB_LINK_(\w+)\s+\(UINT64_C\(1\) << (\d+)\)", header())}
    assert in_header == {f.name: f.value.bit_length() - 1 for f in cubind.LinkFlags}


def test_numbers():
    assert [int(n) for n in re.findall(r"CB_(?:OK|ERR_\w+) = (\d+)", header())] == [int(s) for s in cubind.Status]
    assert [int(n) for n in re.findall(r"CB_SEV_\w+ = (\d+)", header())] == [int(s) for s in cubind.Severity]


def test_version():
    with open(os.path.join(ROOT, "meson.build")) as f:
        assert re.search(r"version: '([^']*)'", f.read()).group(1) == cubind.__version__
