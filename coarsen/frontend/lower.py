"""The front end's one entry: a file or a text to `ir.Kernel`.

kernel.cl ──clang──▶ LLVM IR ──normal form──▶ module ──read──▶ ir.Kernel
kernel.ll, kernel.bc ─────────▲
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import llvmlite.binding as llvm

from coarsen.errors import InvalidInputError
from coarsen.frontend.compile import Source, compile_opencl_c
from coarsen.frontend.normal_form import kernel_names, normal_form, parsed
from coarsen.frontend.options import parse_options
from coarsen.ir.kernel import Kernel
from coarsen.ir.modules import bitcode_module
from coarsen.ir.reader import read_kernel

_BITCODE_MAGIC = (b"BC\xc0\xde", b"\xde\xc0\x17\x0b")


def lower(source: str | Path, kernel: str | None = None, options: str | Sequence[str] = ()) -> Kernel:
    """Lower one kernel to normal form.

    Args:
        source: OpenCL C or LLVM IR text, or the path of a `.cl`, `.ll` or `.bc` file.
        kernel: the kernel's name; may be left out where there is just one.
        options: OpenCL build options as PyOpenCL takes them.

    Raises:
        InvalidInputError: the file can't be read, does not compile, or the kernel is not clear.
        RefusalError: the kernel calls itself.
    """
    with normal_form(assembly_of(source, options), kernel) as (module, name):
        return read_kernel(module, name)


def list_kernels(source: str | Path, options: str | Sequence[str] = ()) -> list[str]:
    """The names of the kernels in a source, in their order. Raises as `lower` does."""
    return kernel_names(assembly_of(source, options))


def assembly_of(source: str | Path, options: str | Sequence[str] = ()) -> str:
    """The LLVM IR text of a source, as clang or the user wrote it. Raises InvalidInputError."""
    if isinstance(source, str):
        return source if _is_assembly(source) else compile_opencl_c(Source(source), parse_options(options))
    content = _read(source)
    if content.startswith(_BITCODE_MAGIC):
        return _disassemble(content, source)
    text = _decode(content, source)
    if source.suffix == ".ll" or _is_assembly(text):
        with parsed(text) as module:
            return str(module)
    return compile_opencl_c(Source(text, source), parse_options(options))


def _is_assembly(text: str) -> bool:
    return text.startswith(("; ModuleID", "target datalayout", "source_filename"))


def _read(path: Path) -> bytes:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InvalidInputError(f"{path}: {error.strerror}") from None
    if not content.strip():
        raise InvalidInputError(f"{path}: the file is empty")
    if path.suffix == ".bc" and not content.startswith(_BITCODE_MAGIC):
        raise InvalidInputError(f"{path}: not LLVM bitcode")
    return content


def _decode(content: bytes, path: Path) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise InvalidInputError(f"{path}: neither text nor LLVM bitcode") from None


def _disassemble(content: bytes, path: Path) -> str:
    try:
        with bitcode_module(content) as module:
            return str(module)
    except RuntimeError as error:
        reason = str(error).strip().splitlines()[0]
        major = llvm.llvm_version_info[0]
        raise InvalidInputError(f"{path}: bitcode that LLVM {major} can't read ({reason})") from None
