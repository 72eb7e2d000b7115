"""OpenCL build options, taken as PyOpenCL takes them: one string, or a list of options.

They are sorted into what clang needs to lower the source and what the device's compiler needs again when it builds
the coarsened form (`device_options`: floating-point rules and vendors' own options).
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from coarsen.errors import InvalidInputError

_STANDARD = r"-cl-std=(?:CL|clc\+\+|CLC\+\+)[\d.]+$"
_MATH = frozenset(
    (
        *("-cl-single-precision-constant", "-cl-denorms-are-zero", "-cl-fp32-correctly-rounded-divide-sqrt"),
        *("-cl-mad-enable", "-cl-no-signed-zeros", "-cl-unsafe-math-optimizations"),
        *("-cl-finite-math-only", "-cl-fast-relaxed-math"),
    )
)
_PREPROCESSOR = ("-D", "-I", "-U")
_FRONT_END_ONLY = frozenset({"-w", "-Werror"})
# Options that change neither the meaning of the kernel nor its floating-point results.
_WITHOUT_EFFECT = frozenset(
    (
        *("-cl-kernel-arg-info", "-cl-opt-disable", "-cl-strict-aliasing", "-cl-uniform-work-group-size"),
        *("-g", "-Wall", "-Wextra"),
    )
)
_VENDOR = r"-(?:cl-nv-|cl-amd-|cl-intel-|cl-ext=|fbin-|f?save-temps|qcom-|O[0-3]$|m[\w-]+$)"
_SINGLE_PRECISION_ONLY = "-cl-single-precision-constant"  # literals are folded by the front end


class BuildOptions(NamedTuple):
    """Build options by what they are for. Each field holds words as they stand on a command line."""

    standard: str = "-cl-std=CL1.2"
    clang_options: tuple[str, ...] = ()
    device_options: tuple[str, ...] = ()


def parse_options(options: str | Sequence[str | bytes] = ()) -> BuildOptions:
    """Sort build options.

    Args:
        options: a string, or a list whose items are options or several options in a string; `-D NAME` and `-I DIR`
            may be one word or two, and two words may stand in one item or two.

    Raises:
        InvalidInputError: for an option that OpenCL does not define and no vendor is known for.
    """
    standard = BuildOptions().standard
    clang_options: list[str] = []
    device_options: list[str] = []
    words = iter(_words(options))
    for word in words:
        if word in _PREPROCESSOR:
            word += _value_of(word, words)
        if word.startswith(_PREPROCESSOR):
            clang_options.append(word)
        elif re.match(_STANDARD, word):
            standard = word
        elif word in _MATH:
            clang_options.append(word)
            if word != _SINGLE_PRECISION_ONLY:
                device_options.append(word)
        elif word in _FRONT_END_ONLY:
            clang_options.append(word)
        elif re.match(_VENDOR, word):
            device_options.append(word)
        elif word not in _WITHOUT_EFFECT:
            raise InvalidInputError(f"unknown OpenCL build option '{word}'")
    return BuildOptions(standard, tuple(clang_options), tuple(device_options))


def _words(options: str | Sequence[str | bytes]) -> Iterator[str]:
    """Split as PyOpenCL does: a list's items are words of their own unless they hold several options."""
    items = (
        [options]
        if isinstance(options, str)
        else [item if isinstance(item, str) else item.decode() for item in options]
    )
    for item in items:
        is_folder = os.path.isdir(item[2:])  # noqa: PTH112 (it takes names of any length)
        if not isinstance(options, str) and (item.startswith("-") is False or is_folder):
            yield item  # a value of its own, or -I with a folder whose name has blanks
            continue
        try:
            yield from shlex.split(item)
        except ValueError as error:
            raise InvalidInputError(f"build options can't be split into words: {error}") from None


def _value_of(option: str, words: Iterator[str]) -> str:
    value = next(words, None)
    if value is None:
        raise InvalidInputError(f"the build option {option} has no value")
    return value
