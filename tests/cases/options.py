#!/usr/bin/env python3
"""Every option of nvlink in every spelling: acceptance, messages, exit code, and the linked bytes."""

import os
import re
import subprocess
import sys

from _checks import part
from _nvlink import Table

FLAG, STRING, INT, BOOL, KEYWORD, LIST = "flag string int bool keyword list".split()

# long name, short name, kind, good values, bad values
OPTIONS = [
    ("Ofast-compile", "Ofc", STRING, ["0", "min"], []),
    ("Xnvvm", "Xnvvm", LIST, ["-x,-y", '"a,b",c'], ['"a']),
    ("Xptxas", "Xptxas", LIST, ["-O3", "-v,-w", "-v ", "-O3 , \t-v\t"], ['"a']),
    ("arch", "arch", KEYWORD, ["sm_90", "compute_90", "lto_90"], ["sm_91", "90", "SM_90", ""]),
    ("cpu-arch", "cpu-arch", KEYWORD, ["X86_64", "unknown", "AARCH64"], ["x86_64", ""]),
    ("debug", "g", FLAG, [], []),
    ("device-stack-protector", "device-stack-protector", BOOL, ["true", "false"], ["1", ""]),
    ("disable-infos", "disable-infos", FLAG, [], []),
    ("disable-warnings", "w", FLAG, [], []),
    ("dlto", "dlto", FLAG, [], []),
    ("dump-callgraph", "dump-callgraph", FLAG, [], []),
    ("dump-callgraph-no-demangle", "dump-callgraph-no-demangle", FLAG, [], []),
    ("emit-ptx", "emit-ptx", FLAG, [], []),
    ("extra-warnings", "extrawarn", FLAG, [], []),
    ("gen-host-linker-script", "ghls", KEYWORD, ["lcs-aug"], ["lcs", ""]),
    ("ignore-host-info", "ignore-host-info", FLAG, [], []),
    ("keep-system-libraries", "keep-system-libraries", FLAG, [], []),
    ("kernels-used", "kernels-used", LIST, ["ka", "kb,ka", "k*", ",,ka,", "", "x\\,ka", "ka ,"], ['k"a']),
    ("library", "l", LIST, ["nosuch", "a,b", '" a " ,b '], ['"a']),
    ("library-path", "L", LIST, [".", "a, b", "a\\,b"], ['"a']),
    ("link-time-opt", "lto", FLAG, [], []),
    ("machine", "m", INT, ["64", "0x40", "0100", "+64", " 64"], ["32", "64x", "", "x", "9" * 20]),
    ("maxrregcount", "maxrregcount", INT, ["32", "0x20", "-1", "", " 5"],
     ["32x", "5 ", "2147483648", "-2147483649"]),
    ("nvvmpath", "nvvmpath", STRING, ["/x/y", ""], []),
    ("options-file", "optf", LIST, ["good.opt", "good.opt,good2.opt", ""],
     ["nosuch", "bad.opt", "bad2.opt", "self.opt", "cut.opt"]),
    ("output-file", "o", STRING, ["out.cubin", "-w"], ["", "nosuch/x"]),
    ("preserve-relocs", "preserve-relocs", FLAG, [], []),
    ("register-link-binaries", None, STRING, ["reg.c"], ["nosuch/x"]),
    ("relocatable-link", "r", FLAG, [], []),
    ("report-arch", "report-arch", FLAG, [], []),
    ("split-compile", "split-compile", INT, ["1", "4"], ["x"]),
    ("split-compile-extended", "split-compile-extended", INT, ["1", "4"], ["x"]),
    ("suppress-arch-warning", "suppress-arch-warning", FLAG, [], []),
    ("suppress-debug-info", "suppress-debug-info", FLAG, [], []),
    ("suppress-stack-size-warning", "suppress-stack-size-warning", FLAG, [], []),
    ("time", "time", STRING, ["t.csv", "-"], ["nosuch/x"]),
    ("uidx-file", "uidx", STRING, [], ["nosuch", "a.cubin", "empty"]),
    ("use-host-info", "use-host-info", FLAG, [], []),
    ("variables-used", "variables-used", LIST, ["v", "v,w"], ['"']),
    ("verbose", "v", FLAG, [], []),
    ("warning-as-error", "Werror", FLAG, [], []),
    # not in nvlink's help
    ("allow-undefined-globals", "allow-undefined-globals", FLAG, [], []),
    ("cuda-api-version", "cuda-api-version", STRING, ["13.0", "13.5", " 13.0", "13. 0"],
     ["12.0", "14.1", "13", "13.", ".0", "13.0x", ""]),
    ("device-stack-protector-frame-size-threshold", "device-stack-protector-frame-size-threshold",
     INT, ["0", "64"], ["x"]),
    ("disable-smem-reservation", "disable-smem-reservation", BOOL, ["true", "false"], ["yes"]),
    ("dont-reserve-null-pointer", "dont-reserve-null-pointer", FLAG, [], []),
    ("dot-file", "dot", STRING, ["g.dot"], ["nosuch/x"]),
    ("enable-extended-smem", "enable-extended-smem", BOOL, ["true", "false"], ["on"]),
    ("fdcmpt", "fdcmpt", FLAG, [], []),
    ("force-partial-lto", "force-partial-lto", FLAG, [], []),
    ("force-rela", "force-rela", FLAG, [], []),
    ("force-whole-lto", "force-whole-lto", FLAG, [], []),
    ("host-ccbin", "host-ccbin", STRING, ["gcc"], []),
    ("host-linker-options", "Xlinker", LIST, ["-z,now"], ['"']),
    ("nv-host", "nv-host", STRING, ["note.txt"], ["nosuch", "empty"]),
    ("reserve-null-pointer", "reserve-null-pointer", FLAG, [], []),
    ("shared", "shared", FLAG, [], []),
    ("syscall-const-offset", "syscall-const-offset", INT, ["16"], ["x"]),
    ("tool-name", "tool-name", STRING, ["other", ""], []),
    ("uumn", "uumn", FLAG, [], []),
    ("verbose-tkinfo", "verbose-tkinfo", BOOL, ["true", "false"], ["TRUE", ""]),
]

# names that older versions or write-ups have, and near misses
UNKNOWN = """
--edbg --no-opt --optimize-data-layout --verbose-keep --trap-into-debugger --libnvvm-path
--lto-allow-unresolved -ewp -keep -keep-dir -vkeep -_trap_ --verb --VERBOSE --no-disable-warnings
-output-file -help -disable-warnings --o --w --L --l --m --Ofc --optf --r --foo --foo=3 -foo -foo=3=4
---foo -- --= -= -oO -archsm_90 --machine64 -register-link-binaries -G -W -O3 @a.opt -mfoo -maxrr
-link-time-opt -libs -Lx -h=1 -V=1 --help= --version=x
""".split()

BASE = ["-arch=sm_90", "a.cubin", "b.cubin", "-o", "out.cubin"]
ACTIONS = ("help", "version")  # their text is not nvlink's


def prepare(folder):
    files = {
        "good.opt": b"-kernels-used ka,kb\n",
        "good2.opt": b' -v \t-L "a b",c\\ d\r\n-l x\\"y',
        "bad.opt": b'-l "x',
        "bad2.opt": b"-o",
        "self.opt": b"-optf self.opt",
        "cut.opt": b"-l x\\",
        "empty": b"",
        "note.txt": b"12345",
    }
    for name, data in files.items():
        with open(os.path.join(folder, name), "wb") as f:
            f.write(data)


def spellings(long_name, short_name, value):
    """All ways to write an option with a value (None for a flag)."""
    names = ["--" + long_name] + (["-" + short_name] if short_name else [])
    for name in names:
        if value is None:
            yield [name]
        else:
            yield [name, value]
            yield [name + "=" + value]
    if short_name in ("l", "L", "m") and value:
        yield ["-" + short_name + value]


def uses_of(option):
    """Argument lists that try one option."""
    long_name, short_name, kind, good, bad = option
    names = ["--" + long_name] + (["-" + short_name] if short_name else [])
    if kind == FLAG:
        for name in names:
            yield [name]
            yield [name, name]
            yield [name + "=true"]
            yield [name + "="]
        yield ["-" + long_name] if long_name != short_name else [names[0].upper()]
        return
    for value in good + bad:
        yield from spellings(long_name, short_name, value)
    for name in names:
        yield [name]  # the value is missing; it stands last
        if good:
            yield [name, good[0], name, good[0]]
            yield [name, good[0], name, good[-1]]


def main():
    table = Table(__file__, prepare)
    if table.real:
        text = subprocess.run([table.real, "--help"], stdout=subprocess.PIPE, text=True).stdout
        listed = set(re.findall(r"^--([A-Za-z-]+)", text, re.M)) - set(ACTIONS)
        ours = {row[0] for row in OPTIONS}
        table.ok("the table has every option of nvlink's help", listed <= ours, listed - ours)
    for option in OPTIONS:
        for use in part(list(uses_of(option)), 2):
            # an option that replaces one of the base ones goes alone
            base = BASE
            if option[0] == "arch":
                base = BASE[1:]
            elif option[0] == "output-file":
                base = BASE[:3]
            elif option[0] == "gen-host-linker-script":
                base = []
            # without a value the script has the host linker's own in it
            portable = option[0] != "gen-host-linker-script" or len(use) > 1 or "=" in use[0]
            table.check("%s: %s" % (option[0], " ".join(use)), base + use, portable)
    for token in UNKNOWN:
        table.check("unknown: " + token, BASE + [token])
        table.check("unknown first: " + token, [token] + BASE)
    table.done()


if __name__ == "__main__":
    main()
