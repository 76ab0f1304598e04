#!/usr/bin/env python3
"""Links an object of every target for every target and compares acceptance and message with nvlink.

Needs ptxas and nvlink; without them it prints one line and is skipped.  Usage:
mercury_matrix.py [CUBIND] [--only TARGET,...]
"""
import os
import shutil
import subprocess
import sys
import tempfile

ARCHS = ["75", "80", "86", "87", "88", "89", "90", "90a", "100", "100a", "100f", "103", "103a",
         "103f", "110", "110a", "110f", "120", "120a", "120f", "121", "121a", "121f"]
PTX = """.version 9.0
.target sm_%s
.address_size 64
.visible .const .align 4 .b8 table[16];
.visible .func (.param .u32 r) pick (.param .u32 i)
{
    .reg .u32 %%i, %%v; .reg .u64 %%a;
    ld.param.u32 %%i, [i]; mul.wide.u32 %%a, %%i, 4;
    ld.const.u32 %%v, [table]; add.u32 %%v, %%v, %%i; st.param.u32 [r], %%v; ret;
}
.visible .entry kernel (.param .u64 p)
{
    .reg .u64 %%p; .reg .u32 %%v;
    ld.param.u64 %%p, [p]; cvta.to.global.u64 %%p, %%p; ld.global.u32 %%v, [%%p];
    { .param .u32 a; .param .u32 r; st.param.u32 [a], %%v; call (r), pick, (a);
      ld.param.u32 %%v, [r]; }
    st.global.u32 [%%p], %%v; ret;
}
"""


def run(args, folder):
    r = subprocess.run(args, cwd=folder, capture_output=True, text=True)
    lines = [x for x in r.stderr.splitlines() if x and not x.startswith("  ")]
    return r.returncode, lines


def main(argv):
    cubind = os.path.abspath(argv[0] if argv and not argv[0].startswith("--") else "build/cubind")
    targets = ARCHS
    if "--only" in argv:
        targets = argv[argv.index("--only") + 1].split(",")
    if not shutil.which("nvlink") or not shutil.which("ptxas"):
        print("mercury_matrix: ptxas or nvlink not found, skipped")
        return 0
    pairs = same = equal = 0
    with tempfile.TemporaryDirectory() as folder:
        for arch in ARCHS:
            path = os.path.join(folder, arch + ".ptx")
            with open(path, "w") as f:
                f.write(PTX % arch)
            subprocess.run(["ptxas", "-c", "-arch=sm_" + arch, path, "-o",
                            os.path.join(folder, "in_%s.cubin" % arch)], check=True)
        for arch in ARCHS:
            for target in targets:
                common = ["-arch=sm_" + target, "in_%s.cubin" % arch, "-o"]
                want = run(["nvlink"] + common + ["n.out"], folder)
                got = run([cubind, "link", "--emulate", "nvlink-13.0.88"] + common + ["c.out"],
                          folder)
                pairs += 1
                if want != got:
                    print("FAIL sm_%s for sm_%s: nvlink %s, cubind %s" % (arch, target, want, got))
                    continue
                same += 1
                outs = []
                for name in ("n.out", "c.out"):
                    path = os.path.join(folder, name)
                    if os.path.exists(path):
                        with open(path, "rb") as f:
                            outs.append(f.read())
                        os.remove(path)
                equal += len(outs) == 2 and outs[0] == outs[1]
    print("%d pairs, %d with the same answer, %d outputs identical" % (pairs, same, equal))
    print("%d passed, %d failed" % (same, pairs - same))
    return 0 if same == pairs else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
