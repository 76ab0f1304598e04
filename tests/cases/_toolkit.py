"""Where the CUDA toolkit's libraries are."""
import os
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
