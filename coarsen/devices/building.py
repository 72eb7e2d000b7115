"""Building an OpenCL program without PyOpenCL's cache of binaries.

A program that comes out of that cache was made from a binary, and a binary carries no kernel-argument
information: `clGetKernelArgInfo` works on the first run and fails on the second. Nor does a cached build
prove that a device's compiler works.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import pyopencl


def build_uncached(
    context: pyopencl.Context,
    source: str | bytes,
    options: Sequence[str] = (),
    devices: Sequence[pyopencl.Device] | None = None,
) -> pyopencl.Program:
    """A program built from OpenCL C or SPIR-V, for `devices` (None: all of the context); raises pyopencl.Error."""
    program = pyopencl.Program(context, source)
    # False (not None, which means the default folder) turns the cache off; PyOpenCL's annotation leaves it
    # out.
    program.build(list(options), devices, cache_dir=cast("Any", False))
    return program
