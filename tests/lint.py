#!/usr/bin/env python3
"""Checks of the tree itself; each prints its findings and counts as one test.

usage: lint.py --build FOLDER [--jobs N] [--tally FILE] [--quick] [CHECK...]

--quick leaves out what takes minutes.
"""

import argparse
import concurrent.futures
import glob
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# From the top of the pipeline down: a folder may include headers of itself and of folders before
# it, never of folders after it.
LAYERS = ["include", "base", "demangle", "format", "sass", "object", "capsule", "input", "container", "lto", "link", "mercury", "finalize", "inspect", "api", "nvjitlink", "tools"]
# The stages of a link, in order: header of src/link, and the files that may include those up to it
STAGES = [("inputs", "admit runtime"), ("symbols", "merge merge_functions merge_objects metadata resolve spend"),
          ("graph", "graph"),
          ("layout", "layout_cull layout_data layout_images layout_shared list_sort reloc_decision"),
          ("patches", "undefined relocate pack_relocs"), ("propagate", "propagate attributes fold old_objects"),
          ("tables", "tables number fill_records fill_symbols notes callgraph unified"), ("bytes", "write elf32")]
# What all stages use, what says something about them when asked, and the list of the passes
ROOMS = {"records": "records failures quirks loops", "reports": "report explain map verbose callgraph_dump", "passes": "link"}
# What a stage works on before it is its result: the header, and the stage whose files alone include it
WORK = {"merge_work": "symbols", "layout_work": "layout", "patches_work": "patches", "propagate_work": "propagate", "tables_work": "tables"}
# Files of src/mercury that work in a stage of the link before the last
VIEW_STAGES = {"view": "inputs", "text": "patches"}
MAX_LINES = 900
MAX_FUNCTION = 60


class Skip:
    """Returned by a check that cannot run here."""

    def __init__(self, why):
        self.why = why


def tracked(*suffixes):
    """Files of the project with one of these endings, sorted."""
    try:
        listed = subprocess.run(
            ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        ).stdout.split("\n")
    except (OSError, subprocess.CalledProcessError):
        listed = []
        for folder, names, files in os.walk(ROOT):
            names[:] = [n for n in names if not n.startswith((".git", "build"))]
            listed += [os.path.relpath(os.path.join(folder, f), ROOT) for f in files]
    return sorted(
        f for f in listed if f.endswith(suffixes or ("",)) and os.path.isfile(os.path.join(ROOT, f))
    )


def lines_of(path):
    with open(os.path.join(ROOT, path), errors="replace") as f:
        return f.read().split("\n")


def check_style(args):
    """every C file is in the code style (clang-format)"""
    if not shutil.which("clang-format"):
        return Skip("clang-format is missing")
    # the projects of the build tests are CUDA code
    files = [f for f in tracked(".c", ".h") if not f.startswith("tests/cases/")]
    done = subprocess.run(
        ["clang-format", "--dry-run", "-Werror", "--ferror-limit=1", *files],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )
    return [l for l in done.stdout.split("\n") if "error:" in l]


def check_tidy(args):
    """clang-tidy has nothing to say"""
    return run_tidy(args, "-clang-analyzer-*")


def check_analyzer(args):
    """clang's static analyzer has nothing to say (some minutes)"""
    return run_tidy(args, "-bugprone-*,-misc-*,-performance-*,-readability-*")


def preprocessed(database):
    """File -> what the compiler makes of it, with its comments."""
    with open(database) as f:
        rows = json.load(f)
    commands = {}
    for row in rows:
        words = [w for w in shlex.split(row["command"]) if w not in ("-c", "-MD")]
        for option in ("-o", "-MF", "-MQ"):
            if option in words:
                del words[words.index(option):words.index(option) + 2]
        commands[os.path.relpath(os.path.join(row["directory"], row["file"]), ROOT)] = words, row["directory"]

    def text(path):
        words, folder = commands[path]
        return subprocess.run([*words, "-E", "-C"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    return text


def run_tidy(args, checks):
    """Findings of .clang-tidy's checks less those.  A file that is as it was when it was looked at is not looked at
    again: BUILD/lint-cache has what was found."""
    database = os.path.join(args.build, "compile_commands.json")
    if not shutil.which("clang-tidy"):
        return Skip("clang-tidy is missing")
    if not os.path.exists(database):
        return Skip("%s is missing" % database)
    files = [f for f in tracked(".c") if f.startswith(("src/", "tools/"))]
    cache = os.path.join(args.build, "lint-cache")
    os.makedirs(cache, exist_ok=True)
    version = subprocess.run(["clang-tidy", "--version"], stdout=subprocess.PIPE).stdout
    rules = version + checks.encode() + "\n".join(lines_of(".clang-tidy")).encode()
    text_of = preprocessed(database)

    def run(path):
        try:
            key = hashlib.sha256(rules + path.encode() + text_of(path)).hexdigest()
        except KeyError:
            return "%s:1:1: error: is not compiled\n" % path
        known = os.path.join(cache, key)
        if not os.path.exists(known):
            done = subprocess.run(
                ["clang-tidy", "--quiet", "-checks=" + checks, "-p", args.build, path], cwd=ROOT,
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            )
            if done.returncode:
                return done.stdout
            with open(known + ".new", "w") as f:
                f.write(done.stdout)
            os.rename(known + ".new", known)
        with open(known) as f:
            return f.read()

    found = []
    with concurrent.futures.ThreadPoolExecutor(max_workers=args.jobs) as pool:
        for text in pool.map(run, files):
            for line in text.split("\n"):
                if re.search(r": (warning|error): ", line):
                    found.append(line.replace(ROOT + "/", ""))
    return sorted(set(found))


def layer_of(path):
    parts = path.split("/")
    return parts[1] if parts[0] == "src" and len(parts) > 2 else parts[0]


def check_layering(args):
    """headers are included from the same folder or one further up the pipeline"""
    found = []
    for path in tracked(".c", ".h"):
        here = layer_of(path)
        if here not in LAYERS:
            continue
        for number, line in enumerate(lines_of(path), 1):
            match = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
            if not match:
                continue
            target = match.group(1).split("/")
            if target[0] == "cubind":
                there = "include"
            elif len(target) > 1 and target[0] in LAYERS:
                there = target[0]
            else:
                there = here
            if LAYERS.index(there) > LAYERS.index(here):
                found.append("%s:%d: %s must not include from %s" % (path, number, here, there))
    return found


def check_stages(args):
    """in src/link a stage uses those before it"""
    found = []
    headers = [header for header, _ in STAGES]
    for stage, (_, files) in enumerate(STAGES):
        for name in files.split():
            path = "src/link/%s.c" % name
            for number, line in enumerate(lines_of(path), 1):
                match = re.match(r'#include "link/(\w+)\.h"', line)
                if match and match.group(1) in headers[stage + 1:]:
                    found.append("%s:%d: %s comes later" % (path, number, match.group(1)))
    files_of = {stage: files.split() for stage, files in STAGES}
    for path in tracked(".c", ".h"):
        name = os.path.splitext(os.path.basename(path))[0]
        for number, line in enumerate(lines_of(path), 1):
            match = re.match(r'#include "link/(\w+_work)\.h"', line)
            if match and name not in files_of[WORK[match.group(1)]]:
                found.append("%s:%d: %s is for its own stage" % (path, number, match.group(1)))
    return found


def staged():
    """(file, number of its stage) of what is compiled as a part of a stage; reports write nothing"""
    headers = [header for header, _ in STAGES]
    for number, (_, files) in enumerate(STAGES, 1):
        for name in files.split():
            yield "src/link/%s.c" % name, number
    for name in ROOMS["reports"].split():
        yield "src/link/%s.c" % name, len(STAGES) + 1
    for path in tracked(".c"):
        if path.startswith("src/mercury/"):
            stage = VIEW_STAGES.get(os.path.splitext(os.path.basename(path))[0], headers[-1])
            yield path, headers.index(stage) + 1


def errors_in_stage(stage, path, text=None):
    """What the compiler refuses of a file as one of this stage."""
    command = ["cc", "-std=gnu17", "-fsyntax-only", "-fmax-errors=0", "-D_GNU_SOURCE", '-DCUBIND_VERSION=""', "-Isrc",
               "-Iinclude", "-Werror=deprecated-declarations", "-Werror=incompatible-pointer-types",
               "-Werror=discarded-qualifiers", "-Werror=cast-qual", "-DCBI_STAGE=%d" % stage, "-xc", path]
    if stage > 2:
        command.append("-DCBI_MODEL=const")
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, input=text)
    return [line for line in done.stderr.split("\n") if "error:" in line]


def check_writes(args):
    """a stage writes nothing that an earlier one has fixed (stages.h), and no cast takes const away"""
    if not shutil.which("cc"):
        return Skip("there is no cc")

    def compiled(job):
        path, stage = job
        return errors_in_stage(stage, path)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return [line for lines in pool.map(compiled, staged()) for line in lines]


# What a stage hands on, with what hangs on it, as later stages see it: none of this can be written
HANDED_ON = {
    "symbols": """symbols->objs.items[0]  symbols->objs.items[0]->number  symbols->objs.items[0]->symbols[0]
        symbols->objs.items[0]->sections[0].base  symbols->objs.items[0]->symbol_lost[0]
        symbols->objs.items[0]->regs[0]  symbols->objs.items[0]->object.sections[0].size
        symbols->objs.items[0]->object.symbols[0].value  symbols->funcs.items[0]  symbols->funcs.items[0]->entry
        symbols->funcs.items[0]->sym->value  symbols->funcs.items[0]->sym->variable->listed
        symbols->funcs.items[0]->calls.items[0]  symbols->funcs.items[0]->calls.items[0]->entry
        symbols->funcs.items[0]->replaced.items[0].sym  symbols->rels.items[0].offset  symbols->protos.items[0]
        symbols->commons.items[0]  symbols->shared.items[0]->align  symbols->images.items[0]
        symbols->constant_size->value  symbols->met.shared""",
    "graph": """graph->calls.edges[0]  graph->fates[0].live  graph->dead.items[0]  graph->entries.items[0]
        graph->components.of[0]  dead->items[0]""",
    "layout": """layout->placements.items[0].value  layout->placed[0]  layout->funcs[0]  layout->funcs[0]->offset
        layout->dead.items[0]  layout->rels.items[0].offset  layout->moved.items[0].offset  records->secs.items[0]
        records->secs.items[0]->name  records->secs.items[0]->size  records->secs.items[0]->pieces.items[0].offset
        records->secs.items[0]->constants->used_size  records->secs.items[0]->shared->total
        records->locals.items[0]  records->globals.items[0]  records->symtab""",
    "patches": """patches->kept_astray  records->secs.items[0]->bytes  records->secs.items[0]->writable[0]
        records->secs.items[0]->relocs.items[0]  records->secs.items[0]->relocs.items[0]->type""",
    "propagate": """attributes->recs.items[0].value  attributes->added.items[0]  attributes->added.items[0]->value
        attributes->properties[0].regs  attributes->properties[0].regcount->value  attributes->usage[0].regs""",
    "tables": """tables->places[0].size  tables->out.items[0]  tables->symbols.items[0]  tables->symbol_indices[0]
        tables->shstr.data[0]  tables->late_recs.items[0]  tables->str_offsets[0]""",
}


def check_results(args):
    """what a stage hands on cannot be written by a later one, nor what it points to"""
    if not shutil.which("cc"):
        return Skip("there is no cc")
    found = []
    for stage, (name, _) in enumerate(STAGES, 1):
        places = HANDED_ON.get(name, "").split()
        lines = ["void try_%d(const cbi_linker *lk) { lk->%s = 0; }" % row for row in enumerate(places)]
        errors = errors_in_stage(stage + 1, "-", "\n".join(['#include "link/state.h"', *lines]) + "\n")
        refused = {int(n) - 2 for n in re.findall(r"<stdin>:(\d+):\d+: error: assignment of", "\n".join(errors))}
        found += ["%s can be written behind stage %s" % (place, name) for i, place in enumerate(places) if i not in refused]
    return found


# Until which stage functions may take these as something to write to.  The linker is written by the list of passes
WRITTEN_UNTIL = {"cbi_linker": 0, "cbi_inputs": 1, "cbi_lobj": 2, "cbi_lsym": 2, "cbi_func": 2, "cbi_symbols": 2,
                 "cbi_graph": 3, "cbi_fate": 3, "cbi_layout": 4, "cbi_placement": 4, "cbi_records": 4, "cbi_osec": 5,
                 "cbi_patches": 5, "cbi_rec": 6, "cbi_attributes": 6, "cbi_properties": 6, "cbi_tables": 7}


def check_signatures(args):
    """what an earlier stage has made is const in the signatures of src/link and src/mercury"""
    found = []
    parameter = re.compile(r"(const )?(?:struct )?(\w+) \*+(\w+)$")
    for path, stage in staged():
        text = re.sub(r"/\*.*?\*/", "", "\n".join(lines_of(path)), flags=re.S)
        for name, parameters in re.findall(r"^[a-z][\w \*]*[ \*](\w+)\(([^;{}()]*)\)\n\{", text, re.M):
            for one in parameters.split(","):
                match = parameter.match(" ".join(one.split()))
                if match and not match.group(1) and stage > WRITTEN_UNTIL.get(match.group(2), stage):
                    found.append("%s: %s takes %s" % (path, name, match.group(0)))
    return found


def check_quirks(args):
    """whether nvlink is emulated is asked where the rows of quirks.h are made, and each row is used"""
    text = {path: "\n".join(lines_of(path)) for path in tracked(".c") if path.startswith(("src/link/", "src/mercury/"))}
    found = ["%s asks for opt->exact" % path for path, code in text.items()
             if re.search(r"\bopt(ions)?->exact\b", code) and path != "src/link/link.c"]
    for row in re.findall(r"X\((\w+), ", "\n".join(lines_of("src/link/quirks.h"))):
        if not any("quirks.%s" % row in code for code in text.values()):
            found.append("src/link/quirks.h: nobody asks for %s" % row)
    return found


def check_length(args):
    """no source file or function is so long that it holds more than one idea"""
    found = []
    for path in tracked(".c"):
        begin = 0
        for number, line in enumerate(lines_of(path) if path.startswith(("src/", "tools/")) else [], 1):
            if line == "{":
                begin = number
            elif line == "}" and begin and number - begin - 1 > MAX_FUNCTION:
                found.append("%s:%d: %d lines, at most %d" % (path, begin, number - begin - 1, MAX_FUNCTION))
    for path in tracked(".c", ".h", ".py"):
        count = len(lines_of(path)) - 1
        if count > MAX_LINES:
            found.append("%s: %d lines, at most %d" % (path, count, MAX_LINES))
    return found


def check_rules(args):
    """docs/link-semantics.md, "Where a rule is": sections, functions and tests that the table names are there"""
    lines = lines_of("docs/link-semantics.md")
    headings = {re.sub(r"[#`]", "", line).strip().split(":")[0] for line in lines if line.startswith("#")}
    start = lines.index("## Where a rule is")
    rows = [line for line in lines[start + 4:] if line]
    rows = rows[:next(i for i, row in enumerate(rows) if not row.startswith("|"))]
    sources = {os.path.basename(path): "\n".join(lines_of(path)) for path in tracked(".c")
               if path.startswith(("src/format/", "src/link/", "src/mercury/", "tests/unit/"))}
    goldens = set(os.listdir(os.path.join(ROOT, "tests", "golden")))
    found = []
    for row in rows:
        rule, section, functions, tests = (cell.strip() for cell in row.strip("|").split(" | "))

        def missing(what, rule=rule):
            found.append("%s: %s" % (rule, what))
        for name in section.split(", "):
            if name not in headings:
                missing("no section %s" % name)
        for names, path in re.findall(r"((?:`\w+`(?:, )?)+) \((\w+\.c)\)", functions):
            for name in re.findall(r"`(\w+)`", names):
                if not re.search(r"\b%s(\(|\[)" % name, sources.get(path, "")):
                    missing("no %s in %s" % (name, path))
        for path in re.findall(r"\b(\w+\.c)\b", functions):
            if path not in sources:
                missing("no file %s" % path)
        for program, texts in re.findall(r"`(test_\w+)`((?:(?:,| and)? ?(?:\"[^\"]+\"|`[a-z]\w+`))*)", tests):
            code = sources.get(program + ".c", "")
            for text in re.findall(r"[\"`]([^\"`]+?)(?:\.\.\.)?[\"`]", texts) or [""]:
                if not code or text not in code:
                    missing("no %s in %s" % (text, program))
        for name in re.findall(r"`(?:features|cases)/[^`]+`", tests):
            if not glob.glob(os.path.join(ROOT, "tests", "oracle" if "features" in name else "", name.strip("`"))):
                missing("no %s" % name)
        for name in re.findall(r"goldens? `([^`]+)`", tests):
            if name not in goldens:
                missing("no golden %s" % name)
        if "`" not in tests:
            missing("no test")
    return found


def check_goldens(args):
    """every program of tests/oracle/features has a link in the archives of tests/golden, or is left out there"""
    sys.path.insert(0, os.path.join(ROOT, "tests", "golden"))
    import store
    folder = os.path.join(ROOT, "tests", "golden")
    names = [line.split()[1] for line in lines_of("tests/golden/left-out.txt") if line]
    for archive in sorted(glob.glob(os.path.join(folder, "features-*.tar.xz"))):
        names += [link.name for link in store.read_archive(archive)]
    programs = sorted(os.listdir(os.path.join(ROOT, "tests", "oracle", "features")))
    return ["%s has none" % p for p in programs if os.path.isdir(os.path.join(ROOT, "tests/oracle/features", p))
            and not any(re.match(re.escape(p) + r"(-debug)?-\d", name) for name in names)]


def check_documents(args):
    """lines of documents that are neither tables nor code have 120 characters at most"""
    found = []
    for path in tracked(".md"):
        if path.startswith("tests/golden/"):
            continue
        fenced = False
        for number, line in enumerate(lines_of(path), 1):
            fenced ^= line.startswith("```")
            if len(line) > 120 and not fenced and not line.startswith(("|", "    ")):
                found.append("%s:%d: %d characters" % (path, number, len(line)))
    return found


def check_reading(args):
    """docs/reading.md: files and functions that the ten stops name are there, each function in its file"""
    text = "\n".join(lines_of("docs/reading.md"))
    sources = {path: "\n".join(lines_of(path)) for path in tracked(".c", ".h") if path.startswith(("src/", "tools/"))}
    found, folder = [], ""
    stops = re.findall(r"^\d+\. [\s\S]*?(?=\n\d+\. |\n\n)", text, re.M)
    if len(stops) != 10:
        found.append("%d stops" % len(stops))
    for stop in stops:
        path = None
        for name in re.findall(r"`([^`\s]+)`", stop):
            if name.endswith((".c", ".h")):
                path = name if "/" in name else os.path.join(folder, name)
                folder = os.path.dirname(path)
                if path not in sources:
                    found.append("no file %s" % path)
            elif re.fullmatch(r"(cbi|run)_\w+", name):
                definition = re.compile(r"^[a-z][^;{}()]*\b%s\([^;{}]*\)\n\{|typedef struct %s\b" % (name, name), re.M)
                if not any(definition.search(code) for p, code in sources.items()
                           if p == path or name in ("cbi_object", "cbi_lobj", "cbi_func")):
                    found.append("no %s in %s" % (name, path))
    return found


def check_mutants(args):
    """what tests/mutants.py changes or sets aside is in the sources, each rule once"""
    import mutants
    texts = ["\n".join(lines_of(path)) for path in tracked(".c", ".h", ".def") if path.startswith("src/")]
    joined = [" ".join(text.split()) for text in texts]
    found = ["%s: %r is there %d times" % (rule, old, sum(text.count(old) for text in texts))
             for rule, old, _ in mutants.RULES if sum(text.count(old) for text in texts) != 1]
    return found + ["set aside, but gone: %r" % row[0] for row in mutants.EQUIVALENT
                    if not any(" ".join(row[0].split()) in text for text in joined)]


def check_paths(args):
    """no file names a folder of one particular machine"""
    found = []
    pattern = re.compile(r"(?<![\w.$}])/(?:home|root|work|Users|tmp/[a-z])[/\w]")
    for path in tracked(".c", ".h", ".py", ".sh", ".md", ".build", ".scd", ".txt", "dev", ".json"):
        for number, line in enumerate(lines_of(path), 1):
            match = pattern.search(line)
            if match and path != "tests/lint.py":
                found.append("%s:%d: %s" % (path, number, line.strip()[:100]))
    return found


def check_unfinished(args):
    """no marker of unfinished work"""
    marker = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X)\b")
    found = []
    for path in tracked(".c", ".h", ".py", ".sh", ".build", "dev"):
        for number, line in enumerate(lines_of(path), 1):
            if marker.search(line):
                found.append("%s:%d: %s" % (path, number, line.strip()[:100]))
    return found


def check_names(args):
    """names that other files can see start with cbi_ or cb_"""
    library = os.path.join(args.build, "libcubind.a")
    if not shutil.which("nm"):
        return Skip("nm is missing")
    if not os.path.exists(library):
        return Skip("%s is missing" % library)
    members = sorted(glob.glob(os.path.join(args.build, "libcubind.a.p", "*.o")))
    listed = subprocess.run(
        ["nm", "--defined-only", "-g", "-A", *members], stdout=subprocess.PIPE, text=True
    ).stdout
    found = set()
    for line in listed.split("\n"):
        words = line.split()
        if len(words) < 3 or words[-1].startswith(("cbi_", "cb_", "__odr_asan", "_GLOBAL_")):
            continue
        found.add("%s: %s" % (os.path.basename(words[0].split(":")[0]), words[-1]))
    return sorted(found)


def check_calls(args):
    """functions and tables are used from the same folder or one further up the pipeline, without circles"""
    done = subprocess.run([sys.executable, os.path.join(ROOT, "tests", "layers.py"), "--build", args.build, "--check"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.stderr:
        return Skip(done.stderr.strip().split("\n")[-1])
    return done.stdout.split("\n")[:-1] if done.returncode else []


# Numbers that look like opcodes and are something else: offsets in constant bank 0.
NO_OPCODES = {("src/mercury/emit.c", "380"), ("src/capsule/fields.c", "348"),
              ("src/capsule/fields.c", "358"), ("src/capsule/fields.c", "380")}


def check_opcodes(args):
    """opcodes have names: no number of an instruction or mask of its operation outside src/sass/instructions.def"""
    listed = set(re.findall(r"^INSTRUCTION\(0x([0-9a-f]{3}),", "\n".join(lines_of("src/sass/instructions.def")), re.M))
    found = []
    for path in tracked(".c", ".h"):
        if not path.startswith(("src/sass/", "src/capsule/", "src/mercury/", "src/finalize/", "src/inspect/", "src/link/")):
            continue
        for number, line in enumerate(lines_of(path), 1):
            for value in re.findall(r"\b0x([0-9a-f]{3})\b", line):
                if (value in listed or value in ("1ff", "1f0")) and (path, value) not in NO_OPCODES:
                    found.append("%s:%d: %s" % (path, number, line.strip()[:100]))
    return found


CHECKS = [
    ("style", check_style),
    ("opcodes", check_opcodes),
    ("layering", check_layering),
    ("stages", check_stages),
    ("writes", check_writes),
    ("results", check_results),
    ("signatures", check_signatures),
    ("quirks", check_quirks),
    ("calls", check_calls),
    ("length", check_length),
    ("rules", check_rules),
    ("goldens", check_goldens),
    ("documents", check_documents),
    ("reading", check_reading),
    ("mutants", check_mutants),
    ("paths", check_paths),
    ("unfinished", check_unfinished),
    ("names", check_names),
    ("tidy", check_tidy),
    ("analyzer", check_analyzer),
]


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--build", default="build")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--tally")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("checks", nargs="*")
    args = parser.parse_args()
    passed = failed = skipped = 0
    for name, check in CHECKS:
        if args.checks and name not in args.checks or args.quick and check is check_analyzer:
            continue
        findings = check(args)
        if isinstance(findings, Skip):
            skipped += 1
            print("skip %s: %s" % (name, findings.why))
        elif findings:
            failed += 1
            print("FAIL %s: %s" % (name, check.__doc__))
            for finding in findings[:40]:
                print("    " + finding)
            if len(findings) > 40:
                print("    ... %d more" % (len(findings) - 40))
        else:
            passed += 1
            print("ok   %s: %s" % (name, check.__doc__))
        sys.stdout.flush()
    if args.tally:
        with open(args.tally, "a") as tally:
            tally.write("lint %d %d %d\n" % (passed, failed, skipped))
    print("%d passed, %d failed, %d skipped" % (passed, failed, skipped))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
