"""Building an OpenCL program, with PyOpenCL's cache of binaries or without it.

A program that comes out of that cache was made from a binary, and a binary carries no kernel-argument
information: `clGetKernelArgInfo` works on the first run and fails on the second. Nor does a cached build
prove that a device's compiler works.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal, cast

import pyopencl

# `coarsen run` gives the name `pyopencl.Program` to a class of ours for a while: this is PyOpenCL's own.
PlainProgram = pyopencl.Program

_IGNORED = ("ignore", None, pyopencl.CompilerWarning, None, 0)


class _Building:
    """The builds of this process that are going on, of which PyOpenCL warns nobody."""

    lock = threading.Lock()
    count = 0
    ignores = False


@contextmanager
def _without_warnings() -> Iterator[None]:
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
    context: pyopencl.Context,
    source: str | bytes,
    options: Sequence[str] = (),
    devices: Sequence[pyopencl.Device] | None = None,
) -> pyopencl.Program:
    """Return a program built from OpenCL C or SPIR-V, for `devices` (None: all of the context).

    Raises pyopencl.Error.
    """
    program = PlainProgram(context, source)
    # False (not None, which means the default folder) turns the cache off; PyOpenCL's annotation leaves it
    # out.
    with _without_warnings():
        program.build(list(options), devices, cache_dir=cast("Any", False))
    return program


def build_for_launches(
    context: pyopencl.Context,
    source: str | bytes,
    options: Sequence[str] = (),
    devices: Sequence[pyopencl.Device] | None = None,
    cache_dir: str | Literal[False] | None = None,
) -> pyopencl.Program:
    """Return a program whose kernels are only launched, from PyOpenCL's cache where it is there.

    Args:
        context: to build for.
        source: OpenCL C or SPIR-V; SPIR-V is never cached.
        options: one by one.
        devices: of the context; all if None.
        cache_dir: as `pyopencl.Program.build` takes it.

    Raises:
        pyopencl.Error: the device does not build it.
    """
    program = PlainProgram(context, source)
    with _without_warnings():
        program.build(list(options), devices, cast("Any", cache_dir))
    return program
