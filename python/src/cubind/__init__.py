"""Linking CUDA device code and looking into it, through libcubind.

A source of device code is a path, or the bytes of a file: a cubin, a fatbin, a host object, program or
library, an archive of those.  What goes wrong is an Error.
"""

from __future__ import annotations

import ctypes
import enum
import os
from dataclasses import dataclass
from typing import Any, Iterable, Iterator, List, Optional, Sequence, Tuple, Union

from . import _library as _c
from ._version import VERSION as __version__

__all__ = [
    "Container", "Diagnostic", "Error", "Finding", "Function", "Image", "ImageInfo", "LinkFlags",
    "LinkResult", "Parameter", "Severity", "Status", "check", "finalize", "functions", "kernels",
    "library_version", "link",
]

Source = Union[str, "os.PathLike[str]", bytes, bytearray, memoryview]
Input = Union[Source, Tuple[str, Union[bytes, bytearray, memoryview]]]

_lib = _c.library


class Status(enum.IntEnum):
    """cb_status: what became of a call."""

    OK = 0
    USAGE = 1
    NO_MEMORY = 2
    IO = 3
    FORMAT = 4
    LINK = 5
    UNSUPPORTED = 6
    FATAL = 7


class Severity(enum.IntEnum):
    """cb_severity: how grave a diagnostic is."""

    INFO = 0
    WARNING = 1
    ERROR = 2
    FATAL = 3


class LinkFlags(enum.IntFlag):
    """CB_LINK_*: how to link."""

    RELOCATABLE = 1 << 0
    DEBUG = 1 << 1
    PRESERVE_RELOCS = 1 << 2
    FORCE_RELA = 1 << 3
    ALLOW_UNDEFINED = 1 << 4
    SUPPRESS_DEBUG_INFO = 1 << 5
    KEEP_SYSTEM_LIBRARIES = 1 << 6
    IGNORE_HOST_INFO = 1 << 7
    VERBOSE = 1 << 8
    EXTRA_WARNINGS = 1 << 9
    WARNINGS_AS_ERRORS = 1 << 10
    SUPPRESS_WARNINGS = 1 << 11
    EMULATE_NVLINK = 1 << 12
    LTO = 1 << 13
    ALLOW_EMPTY = 1 << 14
    ELF32 = 1 << 15


@dataclass(frozen=True)
class Diagnostic:
    """A message of the library."""

    severity: Severity
    id: str
    message: str
    help: Optional[str]
    file: Optional[str]
    section: Optional[str]
    symbol: Optional[str]
    offset: Optional[int]


class Error(Exception):
    """A call failed: `status` says how, `diagnostics` why."""

    def __init__(self, status: Status, diagnostics: Sequence[Diagnostic] = ()) -> None:
        self.status = status
        self.diagnostics = tuple(diagnostics)
        grave = [d.message + (" (%s)" % d.help.replace("\n", "; ") if d.help else "")
                 for d in diagnostics if d.severity >= Severity.ERROR]
        general = (_lib.cb_status_string(int(status)) or b"").decode()
        super().__init__("; ".join(grave) or general)


@dataclass(frozen=True)
class LinkResult:
    """A device ELF, and what the linker had to say."""

    image: bytes
    diagnostics: Tuple[Diagnostic, ...]


@dataclass(frozen=True)
class Parameter:
    """A parameter of a kernel; offset and size in bytes."""

    ordinal: int
    offset: int
    size: int


@dataclass(frozen=True)
class Function:
    """A kernel or device function and what it needs.  None: not recorded."""

    name: str
    demangled: str
    is_kernel: bool
    arch: str
    image: str
    code_size: int
    registers: Optional[int]
    stack: Optional[int]
    frame: Optional[int]
    shared: int
    local: int
    constant: int
    barriers: int
    param_size: int
    parameters: Tuple[Parameter, ...]
    max_threads: Tuple[int, int, int]
    required_threads: Tuple[int, int, int]
    cluster: Tuple[int, int, int]
    max_cluster_rank: int
    max_registers: int
    param_base: int


@dataclass(frozen=True)
class Finding:
    """What `check` finds.  A note departs from a rule that is not certain; it is no fault."""

    rule: str
    message: str
    image: str
    section: Optional[str]
    symbol: Optional[str]
    offset: int
    is_note: bool


@dataclass(frozen=True)
class ImageInfo:
    """A row of the list of a container."""

    index: int
    kind: str
    arch: str
    compression: str
    file: str
    section: Optional[str]
    offset: int
    stored: int
    size: int
    identifier: Optional[str]
    version: Tuple[int, int]


def library_version() -> str:
    """The version of the C library."""
    return str((_lib.cb_version_string() or b"").decode())


def _text(value: Optional[bytes]) -> Optional[str]:
    return None if value is None else value.decode("utf-8", "surrogateescape")


def _required(value: Optional[bytes]) -> str:
    return _text(value) or ""


def _encode(text: Union[str, "os.PathLike[str]"]) -> bytes:
    return os.fsencode(text)


class _Listener:
    """Keeps the diagnostics of a call."""

    def __init__(self) -> None:
        self.diagnostics: List[Diagnostic] = []
        self.callback = _c.DIAGNOSTIC_FN(self._take)

    def _take(self, user: Any, pointer: Any) -> None:
        d = pointer.contents
        self.diagnostics.append(
            Diagnostic(
                severity=Severity(d.severity), id=_required(d.id), message=_required(d.message), help=_text(d.help),
                file=_text(d.file), section=_text(d.section), symbol=_text(d.symbol),
                offset=None if d.offset == 2**64 - 1 else int(d.offset),
            )
        )

    def check(self, status: int) -> None:
        if status != _c.OK:
            raise Error(Status(status), self.diagnostics)


def _strings(words: Sequence[str]) -> Any:
    return (ctypes.c_char_p * len(words))(*(w.encode() for w in words))


def _add(handle: ctypes.c_void_p, number: int, item: Input, kept: List[bytes]) -> int:
    name = "input%d" % number
    if isinstance(item, tuple):
        name, item = item
    if isinstance(item, (bytes, bytearray, memoryview)):
        kept.append(bytes(item))  # lives until the link is freed
        return int(_lib.cb_link_add_memory(handle, name.encode(), kept[-1], len(kept[-1])))
    return int(_lib.cb_link_add_file(handle, _encode(item)))


def link(
    inputs: Iterable[Input],
    arch: str,
    *,
    flags: LinkFlags = LinkFlags(0),
    libraries: Sequence[str] = (),
    library_paths: Sequence[str] = (),
    kernels_used: Sequence[str] = (),
    variables_used: Sequence[str] = (),
    ptxas: Optional[str] = None,
    ptxas_options: Sequence[str] = (),
    max_registers: int = 0,
    nvjitlink: Optional[str] = None,
    cache: Optional[str] = None,
    threads: int = 0,
    memory_limit: int = 0,
) -> LinkResult:
    """Links device code for a target such as "sm_90".

    Inputs are paths, bytes, or pairs of a name and bytes, in link order; libraries are searched in
    library_paths and linked last.  ptxas compiles PTX, with ptxas_options and max_registers; with
    LinkFlags.LTO nvjitlink, looked for if None, compiles LTO-IR.  cache is a folder that keeps what
    they made; None: that of CUBIND_CACHE, "": none.  Raises Error.
    """
    listener = _Listener()
    options = _c.LinkOptions()
    _lib.cb_link_options_init(ctypes.byref(options), ctypes.sizeof(options))
    options.arch = arch.encode()
    options.flags = int(flags)
    options.on_diagnostic = listener.callback
    options.memory_limit = memory_limit
    options.library_paths, options.library_path_count = _strings(library_paths), len(library_paths)
    options.kernels_used, options.kernels_used_count = _strings(kernels_used), len(kernels_used)
    options.variables_used, options.variables_used_count = _strings(variables_used), len(variables_used)
    options.ptxas_path = None if ptxas is None else _encode(ptxas)
    options.ptxas_options, options.ptxas_option_count = _strings(ptxas_options), len(ptxas_options)
    options.max_registers, options.threads = max_registers, threads
    options.nvjitlink_path = None if nvjitlink is None else _encode(nvjitlink)
    options.cache_path = None if cache is None else _encode(cache)
    handle = ctypes.c_void_p()
    listener.check(_lib.cb_link_create(ctypes.byref(options), ctypes.byref(handle)))
    kept: List[bytes] = []
    try:
        for number, item in enumerate(inputs):
            listener.check(_add(handle, number, item, kept))
        for library in libraries:
            listener.check(_lib.cb_link_add_library(handle, library.encode()))
        listener.check(_lib.cb_link_run(handle))
        data, size = ctypes.c_void_p(), ctypes.c_size_t()
        listener.check(_lib.cb_link_get_image(handle, ctypes.byref(data), ctypes.byref(size)))
        return LinkResult(ctypes.string_at(data, size.value), tuple(listener.diagnostics))
    finally:
        _lib.cb_link_free(handle)


def finalize(data: Union[bytes, bytearray, memoryview], arch: str, *, name: str = "input", options: str = "") -> bytes:
    """Makes a cubin of sm_100 or later fit another chip of its family.

    options are those of `cubind finalize`.  Raises Error: what would need a compiler is refused.
    """
    listener = _Listener()
    parts: List[bytes] = []

    def write(user: Any, piece: int, size: int) -> int:
        parts.append(ctypes.string_at(piece, size))
        return 0

    settings = _c.FinalizeOptions(struct_size=ctypes.sizeof(_c.FinalizeOptions), arch=arch.encode(),
                                  on_diagnostic=listener.callback, options=options.encode())
    image = bytes(data)
    result = ctypes.c_int()
    listener.check(_lib.cb_finalize(ctypes.byref(settings), name.encode(), image, len(image), _c.WRITE_FN(write), None,
                                    ctypes.byref(result)))
    return b"".join(parts)


class Image:
    """One open image of a container.  Close it, or use it in a `with` statement."""

    def __init__(self, handle: ctypes.c_void_p, info: ImageInfo, listener: _Listener) -> None:
        self._handle = handle
        self._listener = listener
        self.info = info
        self.name = _required(_lib.cb_image_name(handle))

    def __enter__(self) -> "Image":
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()

    def close(self) -> None:
        """Frees the image; what was read from it stays."""
        if self._handle:
            _lib.cb_image_close(self._handle)
            self._handle = ctypes.c_void_p()

    def _open(self) -> ctypes.c_void_p:
        if not self._handle:
            raise ValueError("the image is closed")
        return self._handle

    def bytes(self) -> bytes:
        """The image, decompressed."""
        data, size = ctypes.c_void_p(), ctypes.c_size_t()
        _lib.cb_image_bytes(self._open(), ctypes.byref(data), ctypes.byref(size))
        return ctypes.string_at(data, size.value)

    def functions(self) -> List[Function]:
        """Kernels and device functions with code, in the order of the symbol table."""
        handle = self._open()
        count = _lib.cb_image_function_count(handle)
        self._listener.check(_lib.cb_image_status(handle))
        return [self._function(_lib.cb_image_function(handle, i).contents) for i in range(count)]

    def _function(self, f: _c.Function) -> Function:
        def known(number: int) -> Optional[int]:
            return None if number < 0 else int(number)

        def triple(numbers: Any) -> Tuple[int, int, int]:
            return (int(numbers[0]), int(numbers[1]), int(numbers[2]))

        return Function(
            name=_required(f.name), demangled=_required(_lib.cb_image_demangle(self._handle, f.name)),
            is_kernel=bool(f.kernel), arch=self.info.arch, image=self.name, code_size=int(f.code_size),
            registers=known(f.registers), stack=known(f.stack), frame=known(f.frame), shared=int(f.shared),
            local=int(f.local), constant=int(f.constant), barriers=int(f.barriers), param_size=int(f.param_size),
            parameters=tuple(Parameter(p.ordinal, p.offset, p.size) for p in f.params[: f.param_count]),
            max_threads=triple(f.max_threads), required_threads=triple(f.required_threads), cluster=triple(f.cluster),
            max_cluster_rank=int(f.max_cluster_rank), max_registers=int(f.max_registers), param_base=int(f.param_base),
        )

    def kernels(self) -> List[Function]:
        """The functions that can be launched."""
        return [f for f in self.functions() if f.is_kernel]

    def check(self) -> List[Finding]:
        """What is wrong with the structure, or against the rules of the ABI."""
        handle = self._open()
        count = _lib.cb_image_finding_count(handle)
        self._listener.check(_lib.cb_image_status(handle))
        rows = (_lib.cb_image_finding(handle, i).contents for i in range(count))
        return [
            Finding(rule=_required(r.rule), message=_required(r.message), image=self.name, section=_text(r.section),
                    symbol=_text(r.symbol), offset=int(r.offset), is_note=bool(r.note))
            for r in rows
        ]


class Container:
    """A file with device code in it.  Close it, or use it in a `with` statement."""

    def __init__(self, source: Source, name: str = "input") -> None:
        self._listener = _Listener()
        self._handle = ctypes.c_void_p()
        self._data = bytes(source) if isinstance(source, (bytes, bytearray, memoryview)) else None
        options = _c.InspectOptions(struct_size=ctypes.sizeof(_c.InspectOptions), on_diagnostic=self._listener.callback)
        if self._data is not None:
            status = _lib.cb_container_open_memory(ctypes.byref(options), name.encode(), self._data, len(self._data),
                                                   ctypes.byref(self._handle))
        else:
            status = _lib.cb_container_open(ctypes.byref(options), _encode(source),  # type: ignore[arg-type]
                                            ctypes.byref(self._handle))
        self._listener.check(status)
        self.content = _required(_lib.cb_content_text(_lib.cb_container_content(self._handle)))
        self.images = [self._info(i) for i in range(_lib.cb_container_count(self._handle))]

    def _info(self, index: int) -> ImageInfo:
        row = _lib.cb_container_info(self._handle, index).contents
        return ImageInfo(
            index=index, kind=_required(_lib.cb_image_kind_name(row.kind)), arch=_required(row.arch),
            compression=_required(_lib.cb_compression_text(row.compression)), file=_required(row.file),
            section=_text(row.section), offset=int(row.offset), stored=int(row.stored), size=int(row.size),
            identifier=_text(row.identifier), version=(int(row.version_major), int(row.version_minor)),
        )

    @property
    def diagnostics(self) -> Tuple[Diagnostic, ...]:
        """Damage that was found."""
        return tuple(self._listener.diagnostics)

    def __enter__(self) -> "Container":
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()

    def close(self) -> None:
        """Frees the container.  Images from a file live on."""
        if self._handle:
            _lib.cb_container_close(self._handle)
            self._handle = ctypes.c_void_p()

    def open(self, index: int) -> Image:
        """Opens an image, decompressed.  Raises Error if it is damaged."""
        if not self._handle:
            raise ValueError("the container is closed")
        handle = ctypes.c_void_p()
        self._listener.check(_lib.cb_image_open(self._handle, index, ctypes.byref(handle)))
        image = Image(handle, self.images[index], self._listener)
        image._data = self._data  # type: ignore[attr-defined]  # borrowed by the image
        return image

    def __iter__(self) -> Iterator[Image]:
        """Opens the images one after the other; each is closed before the next."""
        for info in self.images:
            with self.open(info.index) as image:
                yield image


def functions(source: Source) -> List[Function]:
    """Kernels and device functions of all machine code in a file.  Raises Error."""
    with Container(source) as container:
        return [f for image in container if image.info.kind == "cubin" for f in image.functions()]


def kernels(source: Source) -> List[Function]:
    """The functions that can be launched."""
    return [f for f in functions(source) if f.is_kernel]


def check(source: Source) -> List[Finding]:
    """What is wrong with the machine code in a file; notes among it.  Raises Error."""
    with Container(source) as container:
        return [f for image in container if image.info.kind == "cubin" for f in image.check()]
