"""Building an OpenCL program, with PyOpenCL's cache of binaries or without it.

A program that comes out of that cache was made from a binary, and a binary carries no kernel-argument
information: `clGetKernelArgInfo` works on the first run and fails on the second. Nor does a cached build
prove that a device's compiler works.
"""

from __future__ import annotations

import os
import sys
import threading
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal, cast

import platformdirs
import pyopencl

from coarsen.errors import RefusalError

# A program may give the name to a class of ours: this is PyOpenCL's own.
PlainProgram = pyopencl.Program

_IGNORED = ("ignore", None, pyopencl.CompilerWarning, None, 0)


class _Building:
    """The builds of this process that are going on, of which PyOpenCL warns nobody."""

    lock = threading.Lock()
    count = 0
    ignores = False


@contextmanager
def without_warnings() -> Iterator[None]:
    """Keep PyOpenCL from warning of what a compiler says of code that the user didn't write.

    Compilers print a line or two for each build. `warnings.catch_warnings` is not for several threads, which may
    build at once.
    """
    with _Building.lock:
        _Building.count += 1
        if _Building.count == 1:
            _Building.ignores = _IGNORED not in warnings.filters
            if _Building.ignores:
                warnings.simplefilter("ignore", pyopencl.CompilerWarning)
    try:
        yield
    finally:
        with _Building.lock:
            _Building.count -= 1
            if _Building.count == 0 and _Building.ignores and _IGNORED in warnings.filters:
                warnings.filters.remove(_IGNORED)  # type: ignore[attr-defined]


def build_uncached(
    context: pyopencl.Context, source: str | bytes, options: Sequence[str] = ()
) -> pyopencl.Program:
    """As `build_for_launches`, for all devices and without PyOpenCL's cache."""
    return build_for_launches(context, source, options, cache_dir=False)


def build_for_launches(
    context: pyopencl.Context,
    source: str | bytes,
    options: Sequence[str] = (),
    devices: Sequence[pyopencl.Device] | None = None,
    cache_dir: str | Literal[False] | None = None,
    by_each_start: bool = False,
) -> pyopencl.Program:
    """Return a program whose kernels are only launched, from PyOpenCL's cache where it is there.

    Args:
        context: to build for.
        source: OpenCL C or SPIR-V; SPIR-V is never cached.
        options: one by one.
        devices: of the context; all if None.
        cache_dir: as `pyopencl.Program.build` takes it: False turns the cache off, though its annotation leaves
            that out.
        by_each_start: whether later processes will build the same, so that it pays to keep PoCL's binary, too:
            PoCL takes up to 3 s to write one that loads in 3 ms, and 22 ms to preprocess a source that it knows.

    Raises:
        pyopencl.Error: the device does not build it.
    """
    with without_warnings():
        if by_each_start and cache_dir is not False and isinstance(source, str) and _is_pocl(context):
            # Imported late, as PyOpenCL does: no other driver's programs need it here.
            from pyopencl.cache import create_built_program_from_source_cached as cached

            words, folders = PlainProgram._process_build_options(context, list(options))
            place = Path(cache_dir or getattr(context, "cache_dir", None) or default_place())
            # Where its cache fails, PyOpenCL looks for a variable of the environment that isn't set.
            with suppress(OSError, KeyError):
                if is_open(place):
                    return PlainProgram(cached(context, source, words, devices, str(place), folders)[0])
        program = PlainProgram(context, source)
        program.build(list(options), devices, cast("Any", cache_dir))
    return program


def default_place() -> Path:
    """Return the folder of PyOpenCL's cache where nobody names one."""
    version = ".".join(map(str, sys.version_info))
    return platformdirs.user_cache_path("pyopencl", "pyopencl") / f"pyopencl-compiler-cache-v2-py{version}"


def is_open(place: Path) -> bool:
    """Return False where PyOpenCL would wait for its cache's lock, a minute where it can't be had."""
    return not (place / "lock").exists() and (not place.exists() or os.access(place, os.W_OK))


def _is_pocl(context: pyopencl.Context) -> bool:
    """Return True for PoCL unless PyOpenCL's cache is off: PyOpenCL doesn't use it for PoCL."""
    is_pocl = context.devices[0].platform.name == "Portable Computing Language"
    return is_pocl and not getattr(pyopencl, "_PYOPENCL_NO_CACHE", False)


# Devices whose compilers take minutes for some kernels, and what of a kernel shows it beforehand.
#
# PoCL (3.1) writes what comes after a barrier once for each way by which it is reached. One to three barriers
# under each condition, in plain OpenCL C, took its compiler these seconds of processor time:
#
#     `if`s in a row           1      2      3      4      5      6      8
#     ways                     2      4      8     16     32     64    256
#     seconds               0.06   0.12   0.24    0.5    1.4    4.5   > 20
#     loops, each in an `if`   1      2      3      4
#     ways                     3      9     27     81
#     seconds               0.13    0.3    0.7    2.1
#
# More barriers on each way take longer in proportion. PyOpenCL's scan with four work-groups merged and guarded has
# 625 ways: minutes.

_MOST_ON_POCL = 32


def most_ways_by_barriers(platform_versions: Iterable[str]) -> int | None:
    """Return the number of ways through a kernel that may differ in the barriers on them.

    Args:
        platform_versions: those of all devices that a kernel is built for, as OpenCL names them.

    Returns:
        The number that all of the compilers take in some seconds; None where there is no limit.
    """
    return _MOST_ON_POCL if any("pocl" in version.casefold() for version in platform_versions) else None


def check_ways_by_barriers(ways: int, most: int | None) -> None:
    """Raise RefusalError, `slow-to-compile`, for a kernel on which the device's compiler would take too long.

    Args:
        ways: those through the coarsened kernel.
        most: of `most_ways_by_barriers`.
    """
    if most is not None and ways > most:
        reason = (
            f"{ways} ways through the kernel would differ in their barriers, and PoCL may take minutes to compile "
            f"more than {most}: merge fewer work-groups, or work-items, or leave out the tile"
        )
        raise RefusalError("slow-to-compile", reason)
