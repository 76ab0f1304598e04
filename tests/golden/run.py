#!/usr/bin/env python3
"""Links every fixture again and compares with what nvlink made. Needs no CUDA toolkit.

Usage: run.py [--cubind PROGRAM] [NAME...]
"""
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "oracle"))
sys.dont_write_bytecode = True
import toolchain  # noqa: E402


def read(path, mode="rb"):
    with open(path, mode) as f:
        return f.read()


def check(tools, folder):
    words = read(os.path.join(folder, "cmd"), "r").split()
    inputs = [(w, read(os.path.join(folder, w))) for w in words if w.startswith("in/")]
    args = [w for w in words if not w.startswith("in/")]
    out = os.path.join(folder, "expected.cubin")
    want = toolchain.Run(int(read(os.path.join(folder, "status"), "r")),
                         read(os.path.join(folder, "stderr")).decode("latin1"),
                         read(out) if os.path.exists(out) else None)
    return toolchain.compare(tools, want, tools.run_cubind(args, inputs), args, inputs)


def main(argv):
    cubind = None
    if argv[:1] == ["--cubind"]:
        cubind, argv = argv[1], argv[2:]
    tools = toolchain.Tools(cubind, tempfile.gettempdir())
    passed = failed = sched = 0
    try:
        for name in sorted(os.listdir(HERE)):
            folder = os.path.join(HERE, name)
            if not os.path.exists(os.path.join(folder, "cmd")) or (argv and name not in argv):
                continue
            v = check(tools, folder)
            if v.grade == "same":
                passed += 1
            elif v.grade == "sched":
                sched += 1
                print("sched-only %s: %s" % (name, " ".join(v.funcs)))
            else:
                failed += 1
                print("FAIL %s\n    %s" % (name, v.text.replace("\n", "\n    ")))
    finally:
        tools.close()
    if sched:
        print("%d sched-only (counted as failed)" % sched)
    print("%d passed, %d failed" % (passed, failed + sched))
    return 1 if failed or sched else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
