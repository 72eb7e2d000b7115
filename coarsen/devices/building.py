"""Building an OpenCL program, with PyOpenCL's cache of binaries or without it.

A program that comes out of that cache was made from a binary, and a binary carries no kernel-argument
information: `clGetKernelArgInfo` works on the first run and fails on the second. Nor does a cached build
prove that a device's compiler works.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, cast

import pyopencl

# `coarsen run` gives the name `pyopencl.Program` to a class of ours for a while: this is PyOpenCL's own.
PlainProgram = pyopencl.Program


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
    program.build(list(options), devices, cast("Any", cache_dir))
    return program
