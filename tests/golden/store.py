"""Stored links: folders here, and archives of such folders, in which equal files lie once.

A link is a folder: `cmd` (the words after `link`, or `finalize` first; inputs begin with `in/`),
`in/`, `status`, `stderr` and `stdout` where they are not empty, `expected.cubin` unless nvlink
wrote nothing.
"""
import io
import lzma
import os
import tarfile


class Link:
    """A stored link: options, inputs as (name, bytes), and what nvlink made of them."""

    def __init__(self, name, args, inputs, status, stderr, stdout, out):
        self.name, self.args, self.inputs = name, args, inputs
        self.status, self.stderr, self.stdout, self.out = status, stderr, stdout, out

    def files(self):
        """The folder: path -> content."""
        found = {"cmd": (" ".join(self.args + [n for n, _ in self.inputs]) + "\n").encode(),
                 "status": b"%d\n" % self.status}
        found.update(self.inputs)
        for name, data in (("stderr", self.stderr.encode("latin1")),
                           ("stdout", self.stdout.encode("latin1")), ("expected.cubin", self.out)):
            if data:
                found[name] = data
        return found


def from_files(name, files):
    words = files["cmd"].decode().split()
    inputs = [(w, files[w]) for w in words if w.startswith("in/")]
    return Link(name, [w for w in words if not w.startswith("in/")], inputs, int(files["status"]),
                files.get("stderr", b"").decode("latin1"),
                files.get("stdout", b"").decode("latin1"), files.get("expected.cubin"))


def read_folder(folder):
    files = {}
    for base, _, names in os.walk(folder):
        for n in names:
            path = os.path.join(base, n)
            with open(path, "rb") as f:
                files[os.path.relpath(path, folder)] = f.read()
    return from_files(os.path.basename(folder), files)


def read_archive(path):
    """All links of an archive, in its order."""
    folders, content = {}, {}
    with tarfile.open(path, "r|xz") as tar:
        for member in tar:
            data = content[member.linkname] if member.islnk() else tar.extractfile(member).read()
            content[member.name] = data
            name, _, inner = member.name.partition("/")
            folders.setdefault(name, {})[inner] = data
    return [from_files(name, files) for name, files in folders.items()]


def write_archive(path, links):
    """Returns (bytes of all files, bytes of different files, bytes of the archive)."""
    raw, first, total = io.BytesIO(), {}, 0
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for link in links:
            for inner, data in link.files().items():
                member = tarfile.TarInfo(link.name + "/" + inner)
                total += len(data)
                if data in first:
                    member.type, member.linkname = tarfile.LNKTYPE, first[data]
                    tar.addfile(member)
                else:
                    first[data] = member.name
                    member.size = len(data)
                    tar.addfile(member, io.BytesIO(data))
    packed = lzma.compress(raw.getvalue(), preset=9 | lzma.PRESET_EXTREME)
    with open(path, "wb") as f:
        f.write(packed)
    return total, sum(map(len, first)), len(packed)
