"""The CUDA toolkit: where its libraries are, and a folder in which nvcc finds other tools."""
import os
import re
import shutil


def library_folder():
    """The folder, or None without a toolkit."""
    nvcc = shutil.which("nvcc")
    if not nvcc:
        return None
    folder = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(nvcc))), "lib64")
    return folder if os.path.isdir(folder) else None


def libraries(folder):
    """Every library of a folder once, whatever links there are to it, sorted by name."""
    found = {}
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        if name.startswith("lib") and (name.endswith(".a") or ".so" in name) and os.path.isfile(path):
            found.setdefault(os.path.realpath(path), path)
    return sorted(found.values())


def tool_folder(nvcc, linker, where, bundler=None):
    """A folder whose nvcc runs `linker` as nvlink and `bundler` as fatbinary.  Returns that nvcc."""
    bin_folder = os.path.dirname(os.path.realpath(nvcc))
    top = os.path.dirname(bin_folder)
    os.makedirs(where)
    os.symlink(os.path.join(bin_folder, "nvcc"), os.path.join(where, "nvcc"))
    os.symlink(os.path.join(bin_folder, "crt"), os.path.join(where, "crt"))
    os.symlink(linker, os.path.join(where, "nvlink"))
    os.symlink(bundler or os.path.join(bin_folder, "fatbinary"), os.path.join(where, "fatbinary"))
    with open(os.path.join(bin_folder, "nvcc.profile")) as f:
        profile = re.sub(r"(?m)^TOP\s*=.*$", "TOP = " + top, f.read())
    with open(os.path.join(where, "nvcc.profile"), "w") as f:
        f.write(profile)
    return os.path.join(where, "nvcc")
