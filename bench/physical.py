"""What a bound of the table cannot go below: `./dev bench --physical` sets a link beside programs that do only
what no linker can leave out, and counts page faults and instructions.

The parts, processor time, the least of all rounds: an empty program (fork, exec, loading, exit); one that
reads the same files into one buffer and writes as many bytes as the result has; one that touches as much
memory for the first time as the link's peak is above that of the same program without a link.  What is left
of a link is the linker's own work.

Then what two threads could make of it on the clock: a program that touches the memory and reads the files in one
thread and in two, and writes the result in one, since the system writes one call for a file at a time.  At best the
linker's own work takes half the time in two threads.
"""
import os
import shutil
import subprocess
import time

import table

SHOWN = ("tiny", "wide", "chain", "deep", "ring", "many", "wide-sm100", "archive")
THREADED = ("wide", "chain", "wide-sm100")
NVLINK_SECONDS = 20  # for all rounds of nvlink

FLOOR = r"""#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
static char bytes[2][1 << 16];
static atomic_int next;
static int count;
static char **paths;
static size_t touched;
static void read_files(char *to)
{
    struct stat st;
    for (int i = next++, fd; i < count; i = next++) {
        if ((fd = open(paths[i], O_RDONLY)) < 0 || fstat(fd, &st))
            exit(1);
        while (read(fd, to, sizeof bytes[0]) > 0)
            ;
        close(fd);
    }
}
static int write_file(const char *path, size_t left)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0666);
    while (fd >= 0 && left) {
        ssize_t done = write(fd, bytes, left < sizeof bytes[0] ? left : sizeof bytes[0]);
        if (done <= 0)
            return 1;
        left -= (size_t)done;
    }
    return fd < 0 || close(fd);
}
static void touch(size_t size)
{
    size_t page = 4096;
    char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        exit(1);
    if (size >= 2 << 20)
        madvise(p, size, MADV_HUGEPAGE);
    for (size_t i = 0; i < size; i += page)
        ((volatile char *)p)[i] = 1;
}
static void *work(void *to)
{
    if (touched)
        touch(touched);
    read_files(to);
    return NULL;
}
/* threads, KiB to touch, bytes to write, files, result */
int main(int argc, char **argv)
{
    pthread_t other;
    if (argc < 2)
        return 0;
    size_t threads = strtoul(argv[1], NULL, 10);
    touched = (strtoul(argv[2], NULL, 10) << 10) / threads;
    paths = argv + 4;
    count = argc - 5;
    if (threads > 1 && pthread_create(&other, NULL, work, bytes[1]))
        return 1;
    work(bytes[0]);
    if (threads > 1)
        pthread_join(other, NULL);
    return argc > 4 && write_file(argv[argc - 1], strtoul(argv[3], NULL, 10));
}
"""


def run(argv, folder):
    """(user, system seconds, page faults without a read, seconds on the clock) of a command."""
    for name in os.listdir(folder):
        if name.endswith(".out"):
            os.unlink(os.path.join(folder, name))
    os.chdir(folder)
    quiet = [(os.POSIX_SPAWN_OPEN, fd, "/dev/null", os.O_WRONLY, 0) for fd in (1, 2)]
    started = time.monotonic()
    _, status, usage = os.wait4(os.posix_spawn(argv[0], argv, os.environ, file_actions=quiet), 0)
    took = time.monotonic() - started
    if status:
        raise RuntimeError("%s: status %d" % (" ".join(argv[:3]), status))
    return usage.ru_utime, usage.ru_stime, usage.ru_minflt, took


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
    reading = sum(least([floor, "1", "0", str(size), *files, "floor.out"], bench.folder, rounds)[:2]) - start
    touching = sum(least([floor, "1", more, "0"], bench.folder, rounds)[:2]) - start
    user, system, faults, _ = least(link, bench.folder, rounds)
    return {"start": start, "files": max(reading, 0), "pages": max(touching, 0), "user": user, "system": system,
            "faults": faults, "instructions": instructions(link, bench.folder), "count": len(files), "out": size,
            "in": sum(os.path.getsize(f) for f in files), "peak": peak, "wanted": wanted,
            "nvlink": nvlink_of(bench, target, files) if bench.nvlink else None}


def on_the_clock(bench, name, floor):
    """Seconds of the program without a linker's work and of the link, in one thread and in two, in turns."""
    _, arch, inputs, _, _ = table.SHAPES[name]
    files = inputs(bench)
    link = [bench.cubind, "link", "--emulate", "nvlink-13.0.88", "-arch=sm_" + arch, *files, "-o", "link.out"]
    more = str(max(peak_of(link, bench.folder) - peak_of([bench.cubind, "--version"], bench.folder), 0))
    size = str(os.path.getsize(os.path.join(bench.folder, "link.out")))
    programs = [[floor, t, more, size, *files, "floor.out"] for t in "12"] + [[*link, "--threads", t] for t in "12"]
    took = [[run(p, bench.folder)[3] for p in programs] for _ in range(3 * bench.rounds)]
    return [min(t[i] for t in took) for i in range(len(programs))]


def report_threads(bench, missing, floor):
    print("\n%-10s | %9s %9s | %9s %9s %6s | %s" % ("on clock", "floor, 1", "2", "link, 1", "2", "times", "at best"))
    for name in THREADED:
        try:
            floor_one, floor_two, one, two = on_the_clock(bench, name, floor)
        except missing as why:
            print("%-10s skipped: %s" % (name, why))
            continue
        best = floor_two + (one - floor_one) / 2
        print("%-10s | %9.2f %9.2f | %9.2f %9.2f %6.2f | %.2f ms, %.2f times" % (
            name, floor_one * 1e3, floor_two * 1e3, one * 1e3, two * 1e3, one / two, best * 1e3, one / best),
            flush=True)


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
    report_threads(bench, missing, floor)
