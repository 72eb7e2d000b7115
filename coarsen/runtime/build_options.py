"""OpenCL build options in the forms that PyOpenCL takes, as plain lists."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyopencl

from coarsen.errors import InvalidInputError

BuildOptions = str | Sequence[str | bytes] | None

# The preprocessor's options: done with once a kernel is coarsened, and a macro could still hit one of its
# names.
_PREPROCESSOR = ("-D", "-I", "-U")


def device_options(options: BuildOptions) -> tuple[str, ...]:
    """The options that PyOpenCL hands to the device's compiler, one by one: the caller's, and what it adds to
    them.

    `options` is a string, a sequence of options (where one may hold several, "-D N=4"), or None. Added are
    PyOpenCL's own headers and the environment's `PYOPENCL_BUILD_OPTIONS`. Raises InvalidInputError where
    quotes don't match.
    """
    try:
        given = shlex.split(options) if isinstance(options, str) else [_text(option) for option in options or ()]
        # PyOpenCL joins the options with blanks, and the device's compiler splits them: quotes count there.
        caller = shlex.split(" ".join(given))
    except ValueError as error:
        raise InvalidInputError(f"build options can't be read ({error}): {options!r}") from None
    headers = str(Path(pyopencl.__file__).parent / "cl")
    return (*caller, "-I", headers, *os.environ.get("PYOPENCL_BUILD_OPTIONS", "").split())


def options_of_coarsened(options: Sequence[str], form: str) -> tuple[str, ...]:
    """Those of `options` (one by one) that a coarsened kernel is built with, in `form` "opencl_c" or "spirv".

    What the preprocessor has done is left out; so is, for SPIR-V, the language version.
    """
    kept = _without_preprocessor(options)
    if form == "spirv":
        return tuple(option for option in kept if not option.startswith(("-cl-std", "-cl-kernel-arg-info")))
    return tuple(kept)


def _without_preprocessor(options: Sequence[str]) -> Iterator[str]:
    remaining = iter(options)
    for option in remaining:
        if option in _PREPROCESSOR:
            # "-D NAME": the value is the next option.
            next(remaining, None)
        elif not option.startswith(_PREPROCESSOR):
            yield option


def _text(option: str | bytes) -> str:
    return option.decode() if isinstance(option, bytes) else option
