"""The table of shapes: processor time and memory beside nvlink, what is wanted, and plots of it.

`./dev bench` prints it; --plots FOLDER writes it as SVG, with the growth of each shape.  nvlink may
take NVLINK_LIMIT seconds for a link; where it takes longer, there is no ratio.
"""
import math
import os
import shutil
import subprocess
import sys

import scale

NVLINK_LIMIT = 120
SEEN = 4096  # KiB: less is the size of the program
TARGETS = ("80", "86", "89", "90", "100")


def with_lines(ptx):
    """A place in a source for every instruction."""
    out, line = [], 0
    for text in ptx.splitlines():
        if text.startswith(("    ld.", "    st.", "    ret", "    { .param")):
            line += 1
            out.append("    .loc 1 %d 3" % line)
        out.append(text)
    return "\n".join(out) + '\n.file 1 "m.cu"\n'


def samples(bench):
    return [os.path.join(bench.root, "samples", n) for n in ("reduce.cubin", "mathlib.cubin")]


def lines(bench, count, funcs):
    """Modules with line tables."""
    folder = os.path.join(bench.cache, "lines-90-%d" % funcs)
    paths = [os.path.join(folder, "m%d.cubin" % m) for m in range(count)]
    texts = [scale.module("wide", m, funcs) for m in range(count)]
    paths.append(os.path.join(folder, "end%d.cubin" % count))
    texts.append(scale.last_module("wide", count, funcs))
    for path, text in zip(paths, texts):
        bench.assemble(path, with_lines(text), "90", "-lineinfo")
    return paths


def archive(bench, count, funcs):
    """A library of host objects, each with a compressed fatbin for five targets."""
    folder = os.path.join(bench.cache, "archive-%d-%d" % (count, funcs))
    library = os.path.join(folder, "libwide.a")
    if os.path.exists(library):
        return [library]
    images = {t: bench.modules("wide", count, funcs, t) for t in TARGETS}
    os.makedirs(folder, exist_ok=True)
    objects = []
    for m in range(count + 1):
        fatbin, source = os.path.join(folder, "m.fatbin"), os.path.join(folder, "m.s")
        subprocess.run([bench.cubind, "bundle", "--device-c", "--compress-all", "--create", fatbin,
                        *["--image3=kind=elf,sm=%s,file=%s" % (t, images[t][m]) for t in TARGETS]], check=True)
        with open(source, "w") as f:
            f.write('.section __nv_relfatbin, "a"\n.align 8\n.incbin "%s"\n'
                    '.section .nvFatBinSegment, "a"\n.long 0x466243b1, 1\n.quad 0, 0\n'
                    '.section __nv_module_id, "a"\n.asciz "m%d"\n' % (fatbin, m))
        objects.append(os.path.join(folder, "m%d.o" % m))
        subprocess.run(["cc", "-c", source, "-o", objects[-1]], check=True)
    subprocess.run(["ar", "rcs", library + ".new", *objects], check=True)
    os.rename(library + ".new", library)
    return [library]


# name: (what, target, inputs, wanted ratio of processor time, wanted share of nvlink's memory)
SHAPES = {
    "tiny": ("two cubins, a process", "90", samples, 3, None),
    "wide": ("800 modules, 16,000 functions", "90", lambda b: b.modules("wide", 800, 20), 10, 0.6),
    "chain": ("800 modules, 8 kernels", "90", lambda b: b.modules("chain", 800, 20), None, None),
    "deep": ("800 modules, a kernel in each", "90", lambda b: b.modules("deep", 800, 20), 150, 0.3),
    "ring": ("200 modules, one recursion", "90", lambda b: b.modules("ring", 200, 20), 100, None),
    "many": ("25,000 kernels, one callee", "90", lambda b: b.modules("many", 25, 1000), None, None),
    "wide-sm100": ("150 modules, 3,000 functions", "100", lambda b: b.modules("wide", 150, 20, "100"), None, None),
    "deep-sm100": ("150 modules, a kernel in each", "100", lambda b: b.modules("deep", 150, 20, "100"), None, None),
    "lines": ("150 modules with line tables", "90", lambda b: lines(b, 150, 20), None, None),
    "archive": ("60 host objects, 5 targets, compressed", "90", lambda b: archive(b, 60, 20), 4, None),
    "huge": ("one cubin of 2,000 functions", "90", lambda b: b.modules("wide", 1, 2000), None, None),
}


def are_equal(bench, commands):
    """Do both write the same bytes?"""
    written = []
    for argv in commands.values():
        subprocess.run(argv, cwd=bench.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with open(os.path.join(bench.folder, argv[-1]), "rb") as f:
            written.append(f.read())
    return written[0] == written[-1]


def measure(bench, name):
    """(nvlink's, cubind's) processor seconds and peak KiB; nvlink's (None, why) past the limit; and
    whether the outputs are equal."""
    _, arch, inputs, _, _ = SHAPES[name]
    files, target = inputs(bench), "-arch=sm_" + arch
    commands = {"cubind": [bench.cubind, "link", "--emulate", "nvlink-13.0.88", target, *files, "-o", "cubind.out"]}
    if bench.nvlink:
        commands["nvlink"] = [bench.nvlink, target, *files, "-o", "nvlink.out"]
    times = bench.time_all(commands, {"nvlink": NVLINK_LIMIT})

    def of(program):
        seconds, peak, work = times.get(program, (None, "not installed", None))
        return (work, peak) if seconds is not None else (None, peak)
    both = of("nvlink"), of("cubind")
    ran = None not in (both[0][0], both[1][0])
    return (*both, not ran or are_equal(bench, commands))


def cell(work, peak):
    return "%8.4f s %4d MiB" % (work, peak // 1024) if work is not None else "%19s" % peak


def row(name, nvlink, cubind, equal):
    _, _, _, time, memory = SHAPES[name]
    text = "%-10s %-38s %s %s" % (name, SHAPES[name][0], cell(*nvlink), cell(*cubind))
    if nvlink[0] is None or cubind[0] is None:
        return text
    ratio, share = nvlink[0] / cubind[0], cubind[1] / max(nvlink[1], 1)
    text += " %7.1f %6s" % (ratio, "%.2f" % share if nvlink[1] >= SEEN else "")
    if time:
        text += "  %s %g" % ("reached" if ratio >= time else "wanted", time)
    if not equal:
        text += "  DIFFERENT OUTPUT"
    if memory:
        text += ", memory %s %g" % ("reached" if share <= memory else "wanted", memory)
    return text


def in_process(bench):
    program = os.path.join(bench.build, "bench", "relink")
    if not os.path.exists(program):
        return "in process: skipped: %s is not built" % program
    done = subprocess.run([program, "sm_90", *samples(bench)], capture_output=True, text=True, check=True)
    return "two cubins in process (wanted: at most 0.060 ms): " + done.stdout.strip()


# Reads the files named first, writes as many bytes as its first argument says, and renames.
FILES_ONLY = """#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    static char bytes[1 << 16];
    int fd;
    for (int i = 2; i < argc - 1; i++)
        if ((fd = open(argv[i], O_RDONLY)) < 0 || read(fd, bytes, sizeof bytes) < 0 || close(fd))
            return 1;
    fd = open("only.tmp", O_WRONLY | O_CREAT | O_EXCL, 0666);
    size_t size = strtoul(argv[1], NULL, 10);
    return fd < 0 || write(fd, bytes, size) < 0 || close(fd) || rename("only.tmp", argv[argc - 1]);
}
"""


def compiled(bench, name, text):
    source, program = os.path.join(bench.folder, name + ".c"), os.path.join(bench.folder, name)
    with open(source, "w") as f:
        f.write(text)
    subprocess.run(["cc", "-O2", "-pthread", source, "-o", program], check=True)
    return program


def start(bench):
    """A tiny link beside a program that does nothing, and beside one that only has its files."""
    if not shutil.which("cc"):
        return "start: skipped: no C compiler"
    inputs = samples(bench)
    link = [bench.cubind, "link", "-arch=sm_90", *inputs, "-o", "tiny.out"]
    subprocess.run(link, cwd=bench.folder, check=True)
    size = os.path.getsize(os.path.join(bench.folder, "tiny.out"))
    commands = {"empty": [compiled(bench, "empty", "int main(void) { return 0; }\n")],
                "files": [compiled(bench, "files", FILES_ONLY), str(size), *inputs, "files.out"],
                "link": link}
    if bench.nvlink:
        commands["nvlink"] = [bench.nvlink, "-arch=sm_90", *inputs, "-o", "nvlink.out"]
    rounds, bench.rounds = bench.rounds, 200
    times = bench.time_all(commands)
    bench.rounds = rounds
    least = {name: work * 1e3 for name, (_, _, work) in times.items()}
    return ("start, processor time, least of 200: an empty program %.2f ms, one that only reads and writes the same "
            "files %.2f ms, a tiny link %.2f ms (wanted: at most 0.15 ms more than empty)%s" % (
                least["empty"], least["files"], least["link"],
                ", nvlink %.2f ms" % least["nvlink"] if "nvlink" in least else ""))


def host_linkers(bench, count=800, funcs=20, size=1024):
    """What linkers of host code need for as many functions and bytes."""
    tools = [t for t in ("mold", "ld.lld") if shutil.which(t)]
    if not tools or not shutil.which("cc"):
        return "host linkers: skipped: neither mold nor lld, or no C compiler"
    folder = os.path.join(bench.cache, "host-%d-%d" % (count, funcs))
    os.makedirs(folder, exist_ok=True)
    objects = [os.path.join(folder, "m%d.o" % m) for m in range(count)]
    for m, path in enumerate(objects):
        if os.path.exists(path):
            continue
        with open(path + ".s", "w") as f:
            for i in range(m * funcs, (m + 1) * funcs):
                f.write('.section .text.f%d, "ax"\n.globl f%d\n.type f%d, @function\nf%d:\ncall f%d@PLT\nret\n.zero %d\n'
                        '.size f%d, . - f%d\n' % (i, i, i, i, (i + 1) % (count * funcs), size, i, i))
        subprocess.run(["cc", "-c", path + ".s", "-o", path], check=True)
        os.unlink(path + ".s")
    total = sum(os.path.getsize(p) for p in objects)
    wide = SHAPES["wide"][2](bench)
    own = {"mold": ["--no-fork"]}  # else its work is a child's
    commands = {t: [t, *own.get(t, []), "-shared", "-o", t + ".out", *objects] for t in tools}
    commands["cubind"] = [bench.cubind, "link", "-arch=sm_90", *wide, "-o", "cubind.out"]
    sizes = dict.fromkeys(tools, total)
    sizes["cubind"] = sum(os.path.getsize(p) for p in wide)
    text = ["host linkers, %d objects of %d functions (cubind: wide):" % (count, funcs)]
    for name, (seconds, peak, work) in bench.time_all(commands).items():
        if seconds is None:
            text.append("  %-7s failed: %s" % (name, peak))
            continue
        text.append("  %-7s %5.1f MB in, processor time %6.3f s, %6.2f ms per MB, %5.2f us per function, %4d MiB" % (
            name, sizes[name] / 1e6, work, work * 1e9 / sizes[name], work * 1e6 / (count * funcs), peak // 1024))
    return "\n".join(text)


def print_table(bench, missing):
    """Measures all and prints as it goes; returns the rows."""
    print("%-10s %-38s %19s %19s %7s %6s" % ("shape", "", "nvlink", "cubind", "ratio", "memory"))
    rows = {}
    for name in SHAPES:
        try:
            rows[name] = measure(bench, name)
            print(row(name, *rows[name]))
        except missing as why:
            print("%-10s skipped: %s" % (name, why))
        sys.stdout.flush()
    print(in_process(bench))
    print(start(bench))
    try:
        print(host_linkers(bench))
    except missing as why:
        print("host linkers: skipped: %s" % why)
    return rows


# ---- plots ----

STYLE = ('<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="12">\n'
         '<rect width="100%%" height="100%%" fill="white"/>\n')
COLOURS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#8c564b")


def text_at(x, y, text, anchor="start"):
    return '<text x="%.0f" y="%.0f" text-anchor="%s">%s</text>\n' % (x, y, anchor, text)


def plot_ratios(rows, path):
    """Bars: how many times less processor time than nvlink, on a logarithmic axis."""
    good = [(n, r[0][0] / r[1][0], SHAPES[n][3]) for n, r in rows.items() if r[0][0] and r[1][0]]
    left, width, step = 110, 560, 24
    scale_of = width / math.log10(1000)
    height = 60 + step * len(good)
    out = STYLE % (left + width + 60, height)
    out += text_at(left, 20, "Processor time of nvlink over cubind's; a line: wanted")
    for power in range(4):
        x = left + power * scale_of
        out += '<line x1="%.0f" y1="30" x2="%.0f" y2="%d" stroke="#ccc"/>\n' % (x, x, height - 25)
        out += text_at(x, height - 8, str(10 ** power), "middle")
    for i, (name, ratio, wanted) in enumerate(good):
        y = 36 + i * step
        length = max(math.log10(ratio), 0.01) * scale_of
        out += text_at(left - 6, y + 13, name, "end")
        out += '<rect x="%d" y="%d" width="%.1f" height="16" fill="%s"/>\n' % (left, y, length, COLOURS[0])
        out += text_at(left + length + 4, y + 13, "%.1f" % ratio)
        if wanted:
            x = left + math.log10(wanted) * scale_of
            out += '<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="%s" stroke-width="2"/>\n' % (
                x, y - 2, x, y + 18, COLOURS[1])
    with open(path, "w") as f:
        f.write(out + "</svg>\n")


def plot_growth(points, path):
    """Lines: processor time of each shape at four sizes, both axes logarithmic."""
    left, top, width, height = 60, 30, 520, 320
    every = [p for line in points.values() for p in line]
    low, high = min(p[1] for p in every), max(p[1] for p in every)
    floor, decades = math.floor(math.log10(low)), math.ceil(math.log10(high)) - math.floor(math.log10(low))
    out = STYLE % (left + width + 90, top + height + 45)
    out += text_at(left, 20, "Processor seconds of a link; right: eight times as many modules as left")
    for power in range(decades + 1):
        y = top + height - power * height / decades
        out += '<line x1="%d" y1="%.0f" x2="%d" y2="%.0f" stroke="#ccc"/>\n' % (left, y, left + width, y)
        out += text_at(left - 6, y + 4, "%g" % 10 ** (floor + power), "end")
    for i, (name, line) in enumerate(points.items()):
        places = ["%.1f,%.1f" % (left + width * math.log2(p[0] / line[0][0]) / 3,
                                 top + height - (math.log10(p[1]) - floor) * height / decades) for p in line]
        out += '<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>\n' % (
            " ".join(places), COLOURS[i % len(COLOURS)])
        x, y = places[-1].split(",")
        out += text_at(float(x) + 6, float(y) + 4, name)
    for i, label in enumerate(("1/8", "1/4", "1/2", "1")):
        out += text_at(left + width * i / 3, top + height + 18, label, "middle")
    with open(path, "w") as f:
        f.write(out + "</svg>\n")
