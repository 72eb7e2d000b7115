"""OpenCL build options in the forms that PyOpenCL takes, as plain lists."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from pathlib import Path

import pyopencl

from coarsen.errors import InvalidInputError

BuildOptions = str | Sequence[str] | None

# The preprocessor's options: done with once a kernel is coarsened, and a macro could still hit one of its
# names.
_PREPROCESSOR = ("-D", "-I", "-U")


def device_options(options: BuildOptions) -> tuple[str, ...]:
    """Return the options that PyOpenCL hands to the device's compiler: the caller's, and what it adds to
    them.

    `options` is a string, a sequence of options (where one may hold several, "-D N=4"), or None. Added are
    PyOpenCL's own headers and the environment's `PYOPENCL_BUILD_OPTIONS`. Raises InvalidInputError where
    quotes don't match.
    """
    given = options if isinstance(options, str) else tuple(options or ())
    return (*_split(given), "-I", _headers(), *os.environ.get("PYOPENCL_BUILD_OPTIONS", "").split())


# The programs of an application have theirs in common, and to split them takes as long as to look a kernel up.
@lru_cache(maxsize=64)
def _split(options: str | tuple[str, ...]) -> tuple[str, ...]:
    try:
        given = shlex.split(options) if isinstance(options, str) else options
        # PyOpenCL joins the options with blanks, and the device's compiler splits them: quotes count there.
        return tuple(shlex.split(" ".join(given)))
    except ValueError as error:
        shown = options if isinstance(options, str) else list(options)
        raise InvalidInputError(f"build options can't be read ({error}): {shown!r}") from None


@cache
def _headers() -> str:
    return str(Path(pyopencl.__file__).parent / "cl")


def options_of_coarsened(options: Sequence[str]) -> tuple[str, ...]:
    """Return the elements of `options` (one by one) that still mean something for a coarsened kernel.

    The preprocessor's options are left out, and the language version: the coarsened kernel has its own.
    """
    return tuple(option for option in _without_preprocessor(options) if not option.startswith("-cl-std"))


def _without_preprocessor(options: Sequence[str]) -> Iterator[str]:
    remaining = iter(options)
    for option in remaining:
        if option in _PREPROCESSOR:
            # "-D NAME": the value is the next option.
            next(remaining, None)
        elif not option.startswith(_PREPROCESSOR):
            yield option


def allows_uneven_groups(options: Sequence[str]) -> bool:
    """Return True if a local size need not divide the global size under these options: from OpenCL C 2.0 on."""
    if "-cl-uniform-work-group-size" in options:
        return False
    standards = [option.partition("=")[2] for option in options if option.startswith("-cl-std=")]
    return bool(standards) and not standards[-1].startswith("CL1")
