"""Files of a test script: read from the repository, written to the script's own folder."""

import os

ROOT = os.environ["CUBIND_ROOT"]
TMP = os.environ.get("TMPDIR", "/tmp")


def read(*path):
    """The bytes of a file; a relative path is one of the repository."""
    with open(os.path.join(ROOT, *path), "rb") as f:
        return f.read()


def write(path, data):
    """Writes bytes and gives the path; a relative one is in the script's folder.  Folders are made."""
    path = os.path.join(TMP, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(data)
    return path
