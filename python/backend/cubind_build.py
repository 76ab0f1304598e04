"""Builds the wheel and the source archive of the package: what pip asks for (PEP 517 and 660).

Its own, so that `pip install ./python` needs neither a registry nor a package of the system: a wheel of a few
modules is an archive with three small files of text beside them.  The same tree gives the same bytes."""

import base64
import gzip
import hashlib
import io
import os
import re
import tarfile
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SOURCE = os.path.join(ROOT, "src")
EPOCH = (1980, 1, 1, 0, 0, 0)  # the first moment that a zip file can name

METADATA = """\
Metadata-Version: 2.1
Name: cubind
Version: %s
Summary: Linking CUDA device code and looking into it: the library libcubind
License: Apache-2.0 WITH LLVM-exception
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: Python :: 3
Classifier: Typing :: Typed
Requires-Python: >=3.9
Description-Content-Type: text/markdown

%s"""
WHEEL = "Wheel-Version: 1.0\nGenerator: cubind\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def read(*path):
    with open(os.path.join(ROOT, *path), "rb") as f:
        return f.read()


def version():
    return re.search(r'^VERSION = "(.*)"', read("src", "cubind", "_version.py").decode(), re.M).group(1)


def metadata():
    return (METADATA % (version(), read("README.md").decode())).encode()


def modules():
    """Names below the folder of the sources, and contents."""
    return {"cubind/" + name: read("src", "cubind", name) for name in sorted(os.listdir(os.path.join(SOURCE, "cubind")))
            if name.endswith((".py", ".typed"))}


def write_wheel(folder, files):
    info = "cubind-%s.dist-info/" % version()
    files = {**files, info + "METADATA": metadata(), info + "WHEEL": WHEEL.encode()}
    record = "".join("%s,sha256=%s,%d\n" % (name, base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode(), len(data))
                     for name, data in files.items())
    files[info + "RECORD"] = (record + info + "RECORD,,\n").encode()
    name = "cubind-%s-py3-none-any.whl" % version()
    with zipfile.ZipFile(os.path.join(folder, name), "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files.items():
            entry = zipfile.ZipInfo(path, EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o100644 << 16
            wheel.writestr(entry, data)
    return name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return write_wheel(wheel_directory, modules())


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    return write_wheel(wheel_directory, {"cubind.pth": (SOURCE + "\n").encode()})


def build_sdist(sdist_directory, config_settings=None):
    top = "cubind-%s" % version()
    files = {"PKG-INFO": metadata(), **{name: read(name) for name in ("README.md", "pyproject.toml")},
             "backend/cubind_build.py": read("backend", "cubind_build.py"),
             **{"src/" + name: data for name, data in modules().items()}}
    with open(os.path.join(sdist_directory, top + ".tar.gz"), "wb") as out, \
            gzip.GzipFile("", "wb", fileobj=out, mtime=0) as packed, tarfile.open(fileobj=packed, mode="w") as archive:
        for path, data in files.items():
            entry = tarfile.TarInfo("%s/%s" % (top, path))
            entry.size, entry.mode = len(data), 0o644
            archive.addfile(entry, io.BytesIO(data))
    return top + ".tar.gz"
