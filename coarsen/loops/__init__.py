"""Affine loops of C functions: what they compute, what depends on what, and what may run in parallel.

After Baskaran et al., "A Compiler Framework for Optimization of Affine Loop Nests for GPGPUs", 2007. In the order
of the flow: `clang_tree` makes a `tree` of a C function, `affine_of` a `nest` of that, with `bindings` for names
and `forms` for indices; `dependences` and `schedules` say what may be done with it, `explain` says all in words;
`kernels` says what is launched, `kernel_text` and `launches` write it, `program` has all. What comes after a tree
needs islpy, which the extra `loops` brings, and is imported late: `read_program` is the way in.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from coarsen.errors import InvalidInputError

if TYPE_CHECKING:
    from coarsen.loops.program import NestProgram

SUFFIX = ".c"


def check_islpy() -> None:
    """Raise InvalidInputError, with what to install, if C files can't be read for want of islpy."""
    if importlib.util.find_spec("islpy") is None:
        raise InvalidInputError("C files need islpy: pip install 'coarsen[loops]'")


def read_program(
    path: Path, name: str | None = None, options: Sequence[str] = (), *, is_for_cpus: bool = False
) -> NestProgram:
    """Return what the loops of a C function become.

    Args:
        path: the C file.
        name: that of the function, or of one of its kernels; needed where several functions have loops.
        options: further words for clang: definitions of macros, folders of headers.
        is_for_cpus: whether all devices that it is for are CPUs.

    Raises:
        InvalidInputError: the file can't be read, has no such function or several; islpy is missing.
        RefusalError: it is no affine loop nest, or none that OpenCL C can have; the error names the place.
    """
    check_islpy()
    from coarsen.loops.program import program_of

    return program_of(path, name, options, is_for_cpus=is_for_cpus)
