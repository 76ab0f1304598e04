#!/usr/bin/env python3
"""The program under the name cuobjdump: lists, extraction, symbols, resource usage."""

import os
import re
import subprocess

from _checks import expect, finish
from _containers import ELF, PTX, elf, entry, fatbin
from _files import read

ROOT = os.environ["CUBIND_ROOT"]
TMP = os.environ.get("TMPDIR", "/tmp")
TOOL = os.path.join(TMP, "cuobjdump")
os.symlink(os.environ["CUBIND"], TOOL)


def run(*args):
    done = subprocess.run([TOOL, *args], capture_output=True, check=False, cwd=TMP, text=True)
    return done.returncode, done.stdout, done.stderr


CUBIN = read("tests/golden/lineinfo-90-default/expected.cubin")
OTHER = read("tests/golden/templates-75-default/expected.cubin")
TEXT = b".version 9.0\n.target sm_90\n.address_size 64\n"
with open(os.path.join(TMP, "app"), "wb") as out:
    out.write(elf([(".nv_fatbin", fatbin(entry(ELF, "90", CUBIN, "zstd"), entry(PTX, "90", TEXT + b"\0\0", "lz4"),
                                         entry(ELF, "75", OTHER))),
                   ("__nv_relfatbin", fatbin(entry(ELF, "90", CUBIN)))], e_type=2))

code, out, _ = run("-lelf", "app")
expect("-lelf", (code, out) == (0, "ELF file    1: app.1.sm_90.cubin\nELF file    2: app.2.sm_75.cubin\n"), out)
expect("--list-ptx", run("--list-ptx", "app")[1] == "PTX file    1: app.1.compute_90.ptx\n", run("--list-ptx", "app"))
expect("-all", run("-all", "-lelf", "app")[1].count("\n") == 3)
expect("-arch", run("-arch", "sm_75", "-lelf", "app")[1] == "ELF file    1: app.1.sm_75.cubin\n")
code, out, _ = run("-xelf", "all", "app")
expect("-xelf all", code == 0 and out.count("Extracting ELF file") == 2, out)
for name, data in (("app.1.sm_90.cubin", CUBIN), ("app.2.sm_75.cubin", OTHER)):
    with open(os.path.join(TMP, name), "rb") as f:
        expect(name, f.read() == data)
    os.unlink(os.path.join(TMP, name))
run("-xelf", "sm_75,nothing", "app")
expect("-xelf NAME", os.path.exists(os.path.join(TMP, "app.2.sm_75.cubin")) and
       not os.path.exists(os.path.join(TMP, "app.1.sm_90.cubin")))
code, _, err = run("-xelf", "nothing", "app")
expect("-xelf without a match says so", code == 0 and "-lelf" in err, err)
run("-xptx", "all", "app")
with open(os.path.join(TMP, "app.1.compute_90.ptx"), "rb") as f:
    expect("-xptx", f.read().startswith(TEXT))
out = run("-ptx", "app")[1]
expect("-ptx", out.startswith("\nFatbin ptx code:\n================\narch = sm_90\n") and out.endswith(TEXT.decode()), out)
out = run("-symbols", "app")[1]
expect("-symbols", re.search(r"^function +global +entry +\S+$", out, re.M) and out.count("Fatbin elf code") == 2, out)
out = run("-res-usage", "app")[1]
names = re.findall(r"^ Function (\S+):\n  REG:\d+ STACK:\d+ SHARED:\d+ LOCAL:\d+ CONSTANT:\d+ BARRIER:\d+$", out, re.M)
expect("-res-usage", len(names) >= 2, out)
sorted_names = re.findall(r"^ Function (\S+):", run("-res-usage", "-sort", "-arch", "sm_75", "app")[1], re.M)
expect("-sort", len(sorted_names) > 1 and sorted_names == sorted(sorted_names), sorted_names)
out = run("-res-usage", "-fun", names[0], "app")[1]
expect("-fun", set(re.findall(r"^ Function (\S+):", out, re.M)) == {names[0]}, out)
expect("-ltext", names[0] in run("-ltext", "app")[1] and run("-ltxt", "app") == run("-ltext", "app"))
out = run("-elf", "-arch", "sm_90", "app")[1]
expect("-elf", "\nsections:\n" in out and "\nsymbols:\n" in out)
code, out, err = run("-sass", "app")
expect("-sass", code == 2 and not out and "does not disassemble" in err and "-xelf" in err, err)
code, _, err = run("-lelff", "app")
expect("a misspelt option", code == 2 and "did you mean -lelf?" in err, err)
code, _, err = run("-lelf", os.path.join(ROOT, "README.md"))
expect("no device code", code == 2 and "no device code" in err, err)
expect("--version", run("--version")[0] == 0)
expect("--help", "-res-usage" in run("--help")[1])
finish()
