"""The tuned files that a program is given, and what can't be asked for beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from coarsen.dispatch.tuned_file import TunedFile
from coarsen.errors import InvalidInputError
from coarsen.runtime.code import Form

OneFile = str | Path | TunedFile
TunedChoice = OneFile | Sequence[OneFile] | None


def tuned_files(tuned: TunedChoice, factor: object, form: Form) -> tuple[TunedFile, ...]:
    """Return the tuned files of a program, read where they aren't yet.

    Args:
        tuned: one, or several: of several kernels, or of several devices.
        factor: as `coarsen.Program` takes it.
        form: what the device is given of a coarsened kernel.

    Raises:
        InvalidInputError: a file can't be read, or something else is asked for that can't be had beside it.
    """
    if tuned is None:
        return ()
    several = (tuned,) if isinstance(tuned, str | Path | TunedFile) else tuple(tuned)
    files = tuple(file if isinstance(file, TunedFile) else TunedFile.read(Path(file)) for file in several)
    if files and form != "opencl_c":
        raise InvalidInputError("what a tuned file says was measured of OpenCL C: leave out form or tuned")
    if files and factor is not None and not isinstance(factor, Mapping):
        raise InvalidInputError("a factor for all kernels is given, or a tuned file: leave out factor or tuned")
    for file in files:
        if isinstance(factor, Mapping) and file.kernel in factor:
            raise InvalidInputError(
                f"the kernel {file.kernel} has a factor and a tuned file: leave out one of them"
            )
    return files
