"""The code of a program's coarsened variants, made once for each, and the build options of all."""

from __future__ import annotations

import os
import shlex
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path

import pyopencl

from coarsen.devices.building import check_ways_by_barriers
from coarsen.errors import CoarsenError, InvalidInputError, RefusalError
from coarsen.runtime.toolchain import Code, Form, Toolchain
from coarsen.variant.variant import Definitions, Variant

# A driver builds SPIR-V of this standard without an option.
_DEFAULT_STANDARD = "-cl-std=CL1.2"


class Codes:
    """The codes of one program's variants.

    Args:
        source: OpenCL C.
        options: the build options, one by one.
        form: that of the code.
        toolchain: what it is made with.
        most_ways_by_barriers: where work-groups are merged, or loops have tiles, the ways through a kernel that
            may differ in their barriers; None for any number.
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

    def source_with(self, definitions: Definitions) -> tuple[str, tuple[str, ...]]:
        """Return the source and its build options, with some macros in the place of its own."""
        if not definitions:
            return self._source, self._options
        # Imported late: hardly any program has versions with macros.
        from coarsen.frontend.annotations import source_without_pragmas

        names = [name for name, _ in definitions]
        options = (*options_without(self._options, names), *definition_options(definitions))
        return source_without_pragmas(self._source, "the source", names), options

    def coarsen(self, kernel: str, wanted: Variant) -> Code:
        """Return the code of a variant. Raises RefusalError or InvalidInputError where there is none."""
        key = (kernel, wanted)
        if key not in self._codes:
            try:
                made = self._coarsened(kernel, wanted)
                if wanted.adds_barriers:
                    check_ways_by_barriers(made.ways_by_barriers, self._most_ways_by_barriers)
                self._codes[key] = made
            except (RefusalError, InvalidInputError) as error:
                self._codes[key] = error
        code = self._codes[key]
        if isinstance(code, CoarsenError):
            raise code
        return code

    def _coarsened(self, kernel: str, wanted: Variant) -> Code:
        own = replace(wanted.code_variant(), definitions=())
        return self._toolchain.coarsen(*self.source_with(wanted.definitions), kernel, own, self._form)

    def build_options(self, code: Code, definitions: Definitions = ()) -> tuple[str, ...]:
        """Return what the device's compiler is given of a variant with macros besides its code."""
        options = options_of_coarsened(self.source_with(definitions)[1])
        if self._form == "opencl_c":
            return (*options, code.standard)
        options = tuple(option for option in options if option != "-cl-kernel-arg-info")
        return options if code.standard == _DEFAULT_STANDARD else (*options, code.standard)


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
    return (*_split(given), "-I", pyopencl_headers(), *os.environ.get("PYOPENCL_BUILD_OPTIONS", "").split())


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
def pyopencl_headers() -> str:
    """Return the folder of PyOpenCL's headers, which it names in all build options."""
    return str(Path(pyopencl.__file__).parent / "cl")


def options_of_coarsened(options: Sequence[str]) -> tuple[str, ...]:
    """Return the elements of `options` (one by one) that still mean something for a coarsened kernel.

    The preprocessor's options are left out, and the language version: the coarsened kernel has its own.
    """
    return tuple(option for option in without_words(options, _PREPROCESSOR) if not option.startswith("-cl-std"))


def without_words(options: Sequence[str], letters: tuple[str, ...]) -> Iterator[str]:
    """Yield the elements of `options` (one by one) that don't begin with some letters, such as `-D`."""
    remaining = iter(options)
    for option in remaining:
        if option in letters:
            # "-D NAME": the value is the next option.
            next(remaining, None)
        elif not option.startswith(letters):
            yield option


# Macros among build options.

_ALONE = ("-D", "-U")


def definition_options(definitions: Definitions) -> tuple[str, ...]:
    """Return the build options that define macros."""
    return tuple(f"-D{name}={value}" for name, value in definitions)


def options_without(options: Sequence[str], names: Collection[str]) -> tuple[str, ...]:
    """Return build options, given one by one, without those that define or undefine these macros."""
    return tuple(word for name, words in options_by_macro(options) if name not in names for word in words)


def options_by_macro(options: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Options one by one, each with the macro that it is about; `-D NAME` is one."""
    rest = iter(options)
    for option in rest:
        words = (option, *([following] if option in _ALONE and (following := next(rest, None)) else []))
        is_about = option[:2] in _ALONE
        yield ("".join(words)[2:].partition("=")[0].partition("(")[0] if is_about else "", words)


def allows_uneven_groups(options: Sequence[str]) -> bool:
    """Return True if a local size need not divide the global size under these options: from OpenCL C 2.0 on."""
    if "-cl-uniform-work-group-size" in options:
        return False
    standards = [option.partition("=")[2] for option in options if option.startswith("-cl-std=")]
    return bool(standards) and not standards[-1].startswith("CL1")
