"""The code of a program's coarsened variants, made once for each, and the build options of all."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Literal

import pyopencl

from coarsen.devices.slow_compilers import check_ways_by_barriers
from coarsen.errors import CoarsenError, InvalidInputError, RefusalError
from coarsen.ir.added_arguments import AddedArgument
from coarsen.runtime.toolchain import CoarsenedKernel, Toolchain
from coarsen.variant.placement import PlacedArgument
from coarsen.variant.variant import Variant

Form = Literal["opencl_c", "spirv"]
# A driver builds SPIR-V of this standard without an option.
_DEFAULT_STANDARD = "-cl-std=CL1.2"


@dataclass(frozen=True, slots=True)
class Code:
    """A coarsened kernel as the device is given it, OpenCL C or SPIR-V, and its build options.

    Everything else is as in `toolchain.CoarsenedKernel`.
    """

    text: str | bytes
    options: tuple[str, ...]
    added_arguments: tuple[AddedArgument, ...] = ()
    needs_whole_groups: bool = False
    groups_matter: bool = True
    objects_below: int | None = None
    apart: tuple[tuple[int, int], ...] = ()
    placed_arguments: tuple[PlacedArgument, ...] = ()


class Codes:
    """The codes of one program's variants.

    Args:
        source: OpenCL C.
        options: the build options, one by one.
        form: that of the code.
        toolchain: what it is made with.
        most_ways_by_barriers: where work-groups are merged, the ways through a kernel that may differ in their
            barriers; None for any number.
    """

    def __init__(
        self,
        source: str,
        options: Sequence[str],
        form: Form,
        toolchain: Toolchain,
        most_ways_by_barriers: int | None = None,
    ) -> None:
        self._source = source
        self._options = tuple(options)
        self._form = form
        self._toolchain = toolchain
        self._most_ways_by_barriers = most_ways_by_barriers
        self._codes: dict[tuple[str, Variant], Code | CoarsenError] = {}

    def knows(self, kernel: str, wanted: Variant) -> bool:
        """Return True if a variant's code was made already, or refused."""
        return (kernel, wanted) in self._codes

    def coarsen(self, kernel: str, wanted: Variant) -> Code:
        """Return the code of a variant. Raises RefusalError or InvalidInputError where there is none."""
        key = (kernel, wanted)
        if key not in self._codes:
            try:
                coarsened = self._toolchain.coarsen(self._source, kernel, wanted, self._options)
                if wanted.merges_groups:
                    check_ways_by_barriers(coarsened.ways_by_barriers, self._most_ways_by_barriers)
                self._codes[key] = self._code_of(coarsened)
            except (RefusalError, InvalidInputError) as error:
                self._codes[key] = error
        code = self._codes[key]
        if isinstance(code, CoarsenError):
            raise code
        return code

    def _code_of(self, coarsened: CoarsenedKernel) -> Code:
        options = options_of_coarsened(self._options)
        facts = (
            *(coarsened.added_arguments, coarsened.needs_whole_groups),
            *(coarsened.groups_matter, coarsened.objects_below, coarsened.apart),
            coarsened.placed_arguments,
        )
        if self._form == "spirv":
            options = tuple(option for option in options if option != "-cl-kernel-arg-info")
            if coarsened.spirv_standard != _DEFAULT_STANDARD:
                options = (*options, coarsened.spirv_standard)
            return Code(coarsened.spirv, options, *facts)
        return Code(coarsened.opencl_c, (*options, coarsened.opencl_c_standard), *facts)


def forget_frames(error: BaseException | None) -> None:
    """Let go of the frames that an error came through: it is kept, and a launch's frame has the arguments."""
    while error is not None:
        error.__traceback__ = None
        error = error.__cause__ or error.__context__


# OpenCL build options in the forms that PyOpenCL takes, as plain lists.

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
