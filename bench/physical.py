"""What a bound of the table cannot go below: `./dev bench --physical` sets a link beside programs that do only
what no linker can leave out, and counts page faults and instructions.

The parts, processor time, the least of all rounds: an empty program (fork, exec, loading, exit); one that
reads the same files into one buffer and writes as many bytes as the result has; one that touches as much
memory for the first time as the link's peak is above that of the same program without a link.  What is left of a link is the linker's own work.
"""
import os
import shutil
import subprocess
import time

import table

SHOWN = ("tiny", "wide", "chain", "deep", "ring", "many", "wide-sm100", "archive")
NVLINK_SECONDS = 20  # for all rounds of nvlink

FLOOR = r"""#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
static char bytes[1 << 16];
static int files(int argc, char **argv)
{
    size_t left = strtoul(argv[2], NULL, 10);
    struct stat st;
    int fd;
    for (int i = 3; i < argc - 1; i++) {
        if ((fd = open(argv[i], O_RDONLY)) < 0 || fstat(fd, &st))
            return 1;
        while (read(fd, bytes, sizeof bytes) > 0)
            ;
        close(fd);
    }
    fd = open(argv[argc - 1], O_WRONLY | O_CREAT | O_EXCL, 0666);
    while (fd >= 0 && left) {
        ssize_t done = write(fd, bytes, left < sizeof bytes ? left : sizeof bytes);
        if (done <= 0)
            return 1;
        left -= (size_t)done;
    }
    return fd < 0 || close(fd);
}
static int pages(const char *kib)
{
    size_t size = strtoul(kib, NULL, 10) << 10, page = 4096;
    char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return 1;
    if (size >= 2 << 20)
        madvise(p, size, MADV_HUGEPAGE);
    for (size_t i = 0; i < size; i += page)
        ((volatile char *)p)[i] = 1;
    return 0;
}
int main(int argc, char **argv)
{
    return argc < 2 ? 0 : strcmp(argv[1], "files") == 0 ? files(argc, argv) : pages(argv[2]);
}
"""


def run(argv, folder):
    """(user, system seconds, page faults without a read) of a command."""
    for name in os.listdir(folder):
        if name.endswith(".out"):
            os.unlink(os.path.join(folder, name))
    os.chdir(folder)
    quiet = [(os.POSIX_SPAWN_OPEN, fd, "/dev/null", os.O_WRONLY, 0) for fd in (1, 2)]
    _, status, usage = os.wait4(os.posix_spawn(argv[0], argv, os.environ, file_actions=quiet), 0)
    if status:
        raise RuntimeError("%s: status %d" % (" ".join(argv[:3]), status))
    return usage.ru_utime, usage.ru_stime, usage.ru_minflt


def least(argv, folder, rounds, seconds=10.0):
    """Of the rounds the one with the least processor time; the first one does not count."""
    runs, started = [run(argv, folder)], time.monotonic()
    while len(runs) <= rounds and time.monotonic() - started < seconds:
        runs.append(run(argv, folder))
    return min(runs[1:] or runs, key=lambda r: r[0] + r[1])


def instructions(argv, folder):
    """Of the program itself, as valgrind counts them; None without it."""
    if not shutil.which("valgrind"):
        return None
    out = os.path.join(folder, "cachegrind.txt")
    subprocess.run(["valgrind", "-q", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=" + out, *argv],
                   cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open(out) as f:
        return next(int(line.split()[1]) for line in f if line.startswith("summary:"))


def peak_of(argv, folder):
    """Peak resident KiB; of what is over before anybody can look often enough, too."""
    done = subprocess.run(["/usr/bin/time", "-f", "%M", *argv], cwd=folder, capture_output=True, text=True, check=True)
    return int(done.stderr.split()[-1])


def nvlink_of(bench, target, files):
    """Its processor seconds; None where it is missing or slow."""
    argv = [bench.nvlink, target, *files, "-o", "nvlink.out"]
    try:
        subprocess.run(argv, cwd=bench.folder, timeout=NVLINK_SECONDS, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, check=True)
    except (subprocess.SubprocessError, TypeError):
        return None
    return sum(least(argv, bench.folder, bench.rounds, NVLINK_SECONDS)[:2])


def measure(bench, name, floor):
    """Milliseconds of the parts, of the link and of nvlink; page faults; instructions."""
    _, arch, inputs, wanted, _ = table.SHAPES[name]
    files, target = inputs(bench), "-arch=sm_" + arch
    rounds = bench.rounds * (20 if name == "tiny" else 1)
    link = [bench.cubind, "link", "--threads=1", "--emulate", "nvlink-13.0.88", target, *files, "-o", "link.out"]
    peak = peak_of(link, bench.folder)
    more = str(max(peak - peak_of([bench.cubind, "--version"], bench.folder), 0))
    size = os.path.getsize(os.path.join(bench.folder, "link.out"))
    start = sum(least([floor], bench.folder, rounds)[:2])
    reading = sum(least([floor, "files", str(size), *files, "floor.out"], bench.folder, rounds)[:2]) - start
    touching = sum(least([floor, "pages", more], bench.folder, rounds)[:2]) - start
    user, system, faults = least(link, bench.folder, rounds)
    return {"start": start, "files": max(reading, 0), "pages": max(touching, 0), "user": user, "system": system,
            "faults": faults, "instructions": instructions(link, bench.folder), "count": len(files), "out": size,
            "in": sum(os.path.getsize(f) for f in files), "peak": peak, "wanted": wanted,
            "nvlink": nvlink_of(bench, target, files) if bench.nvlink else None}


def verdict(m):
    if not m["wanted"] or not m["nvlink"]:
        return ""
    bound, below = m["nvlink"] / m["wanted"], m["start"] + m["files"] + m["pages"]
    now = m["user"] + m["system"]
    text = "%g times is %.2f ms: " % (m["wanted"], bound * 1e3)
    if now <= bound:
        return text + "reached"
    if below >= bound:
        return text + "below what start, files and pages cost"
    return text + "leaves %.2f ms for the work, which takes %.2f" % ((bound - below) * 1e3, (now - below) * 1e3)


def report(bench, missing):
    """Prints a row per shape as it is measured."""
    if not shutil.which("cc") or not os.path.exists("/usr/bin/time"):
        print("physical: skipped: no C compiler, or no GNU time")
        return
    floor = table.compiled(bench, "floor", FLOOR)
    print("%-10s %5s %6s %6s %7s | %6s %6s %6s | %14s %7s %8s | %8s" % (
        "shape", "files", "MB in", "MB out", "peak KB", "start", "files", "pages", "link user+sys", "faults",
        "M instr.", "nvlink"))
    for name in SHOWN:
        try:
            m = measure(bench, name, floor)
        except missing as why:
            print("%-10s skipped: %s" % (name, why))
            continue
        print("%-10s %5d %6.2f %6.2f %7d | %6.2f %6.2f %6.2f | %6.2f + %5.2f %7d %8s | %8s  %s" % (
            name, m["count"], m["in"] / 1e6, m["out"] / 1e6, m["peak"], m["start"] * 1e3, m["files"] * 1e3,
            m["pages"] * 1e3, m["user"] * 1e3, m["system"] * 1e3, m["faults"],
            "%.2f" % (m["instructions"] / 1e6) if m["instructions"] else "", "%.2f" % (m["nvlink"] * 1e3)
            if m["nvlink"] else "", verdict(m)), flush=True)
