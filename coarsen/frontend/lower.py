"""The front end's one entry: a file or a text to `ir.Kernel`.

kernel.cl ──clang──▶ LLVM IR ──normal form──▶ module ──read──▶ ir.Kernel
kernel.ll, kernel.bc ─────────▲
"""

from __future__ import annotations

import re
import stat
from collections.abc import Sequence
from pathlib import Path

from coarsen.errors import InvalidInputError
from coarsen.frontend.compile import Source, compile_opencl_c
from coarsen.frontend.device_macros import PORTABLE, DeviceMacros
from coarsen.frontend.disassemble import disassemble
from coarsen.frontend.normal_form import check_target, kernel_names, normal_form, parsed
from coarsen.frontend.options import parse_options
from coarsen.ir.kernel import Kernel
from coarsen.ir.reader import read_kernel
from coarsen.limits import MEBIBYTE, MOST_INPUT_BYTES

# The first line of LLVM assembly that is not a comment; none of these can start OpenCL C.
_ASSEMBLY = re.compile(
    r"(?:\s*;[^\n]*\n)*\s*(?:target (?:datalayout|triple)|source_filename|define |declare |[@%!]|attributes #)"
)
_CONTROL_CHARACTER = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f]")
_TOO_LARGE = f"larger than {MOST_INPUT_BYTES // MEBIBYTE} MiB, the most that is read of a kernel's source"
_BITCODE_MAGIC = (b"BC\xc0\xde", b"\xde\xc0\x17\x0b")


def lower(
    source: str | Path,
    kernel: str | None = None,
    options: str | Sequence[str] = (),
    macros: DeviceMacros = PORTABLE,
) -> Kernel:
    """Lower one kernel to normal form.

    Args:
        source: OpenCL C or LLVM IR text, or the path of a `.cl`, `.ll` or `.bc` file.
        kernel: the kernel's name; may be left out where there is just one.
        options: OpenCL build options as PyOpenCL takes them.
        macros: what the source may find out about its device.

    Returns:
        The kernel, uncoarsened, as `coarsen.features` and the predictors take it.

    Raises:
        InvalidInputError: the file can't be read, does not compile, or the kernel is not clear.
        RefusalError: the kernel calls itself, or is too long.
    """
    with normal_form(assembly_of(source, options, macros), kernel) as (module, name):
        return read_kernel(module, name)


def list_kernels(
    source: str | Path, options: str | Sequence[str] = (), macros: DeviceMacros = PORTABLE
) -> list[str]:
    """The names of the kernels in a source, in their order. Raises as `lower` does."""
    return kernel_names(assembly_of(source, options, macros))


def assembly_of(source: str | Path, options: str | Sequence[str] = (), macros: DeviceMacros = PORTABLE) -> str:
    """The LLVM IR text of a source, as clang or the user wrote it. Raises InvalidInputError."""
    if isinstance(source, str):
        if len(source) > MOST_INPUT_BYTES:
            raise InvalidInputError(f"the source: {_TOO_LARGE}")
        code = Source(source)
    else:
        content = _read(source)
        if content.startswith(_BITCODE_MAGIC):
            return _checked(_disassemble(content, source))
        code = Source(_decode(content, source), source)
        if source.suffix == ".ll":
            return _checked(code.text)
    if _is_assembly(code.text):
        return _checked(code.text)
    return compile_opencl_c(code, parse_options(options), macros)


def opencl_c_of(source: str | Path) -> str | None:
    """The OpenCL C text of a source as positions in the lowered kernel count its lines; None where it is LLVM IR.

    Raises:
        InvalidInputError: the file can't be read.
    """
    if isinstance(source, str):
        text = source
    else:
        content = _read(source)
        if content.startswith(_BITCODE_MAGIC) or source.suffix == ".ll":
            return None
        text = _decode(content, source)
    return None if _is_assembly(text) else text


def _checked(assembly: str) -> str:
    """Assembly that LLVM reads and that is for SPIR, as LLVM prints it."""
    with parsed(assembly) as module:
        check_target(module.triple)
        return str(module)


def _is_assembly(text: str) -> bool:
    return _ASSEMBLY.match(text) is not None


def _read(path: Path) -> bytes:
    try:
        mode = path.stat().st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            raise InvalidInputError(f"{path}: not a regular file")  # a device may never end, a pipe never begin
        with path.open("rb") as stream:
            content = stream.read(MOST_INPUT_BYTES + 1)
    except OSError as error:
        raise InvalidInputError(f"{path}: {error.strerror}") from None
    if len(content) > MOST_INPUT_BYTES:
        raise InvalidInputError(f"{path}: {_TOO_LARGE}")
    if not content.strip():
        raise InvalidInputError(f"{path}: the file is empty")
    if path.suffix == ".bc" and not content.startswith(_BITCODE_MAGIC):
        raise InvalidInputError(f"{path}: not LLVM bitcode")
    return content


def _decode(content: bytes, path: Path) -> str:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("latin-1")  # older sources have their comments in it
    if _CONTROL_CHARACTER.search(text):
        raise InvalidInputError(f"{path}: neither text nor LLVM bitcode")
    return text


def _disassemble(content: bytes, path: Path) -> str:
    try:
        return disassemble(content)
    except InvalidInputError as error:
        raise InvalidInputError(f"{path}: {error}") from None
