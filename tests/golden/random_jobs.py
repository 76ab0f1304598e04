"""Random jobs of the oracle as stored links. A job is `KIND SEED NUMBER STEP`, for example
`mercury+patch 7 12 1`: targets, what is special about inputs or options, the step of its chain."""
import generate
import judges
import shapes
import store
import toolchain

EXTRAS = ("shapes", "patch", "host", "tensor", "off-target", "finalize", "g")


def program(kind, seed, number):
    group, *extras = kind.split("+")
    name = "%s/%s" % (seed, number)
    maker = shapes if "shapes" in extras else generate
    prog = maker.make(seed, number, toolchain.GROUPS[group], "tensor" in extras)
    prog.patch = name if "patch" in extras else None
    prog.host = name if "host" in extras else None
    if "off-target" in extras:
        prog.arch = judges.target_for(prog.arch, name)
    if "g" in extras:
        prog.steps = [step + ["-g"] * ("-g" not in step) for step in prog.steps]
    return prog


def finalized(tools, prog, name, inputs, title):
    """The link of a `finalize` job, or nothing if nvlink refuses a part of it."""
    target = judges.target_for(prog.arch, name)
    linked = judges.chain(tools, prog.args(), inputs)
    want = linked and judges.chain(tools, prog.args(), inputs, target)
    if want:
        args = ["finalize", "-arch", "sm_" + target, "--self-check"]
        yield store.Link(title + "-1", args, [("in/in.cubin", linked)], 0, "", "", want)


def links(tools, kind, seed, number):
    """What nvlink makes of each step of a job."""
    title = "%s-%s-%s" % (kind, seed, number)
    prog = program(kind, seed, number)
    try:
        inputs = [("in/" + n, d) for n, d in prog.inputs(tools)]
    except toolchain.ToolError:
        return
    if "finalize" in kind.split("+"):
        yield from finalized(tools, prog, "%s/%s" % (seed, number), inputs, title)
        return
    for i, args in enumerate(prog.args()):
        n = tools.run_nvlink(args, inputs)
        if n.rc < 0:
            return
        yield store.Link("%s-%d" % (title, i + 1), args, inputs, n.rc, n.err, n.stdout, n.out)
        if n.out is None:
            return
        inputs = [("in/step%d.cubin" % (i + 1), n.out)]
