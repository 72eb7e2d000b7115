"""Kernels that clang has optimised in full, which have instructions and loops that the normal form hasn't."""

from __future__ import annotations

import functools

import pyopencl
import pytest

from coarsen.backend.opencl_c.writer import OpenClC, write_opencl_c
from coarsen.frontend.clang import find_clang
from coarsen.frontend.lower import lower
from tests.backend.opencl_c.cases import CASES, COMPILED
from tests.backend.opencl_c.differential import Case, difference

OPTIMISED = [case for case in (*CASES, *COMPILED) if not case.name.startswith(("integer", "float", "double"))]


@functools.lru_cache(maxsize=64)
def rewritten(case: Case) -> OpenClC:
    """What the writer makes of the optimised IR, once for all devices."""
    return write_opencl_c(lower(optimised_ir(case)))


def optimised_ir(case: Case) -> str:
    """LLVM IR of a case at -O2."""
    clang = find_clang()
    options = ["-x", "cl", "-cl-std=CL1.2", "-target", "spir64", "-O2", "-cl-kernel-arg-info", "-S", "-emit-llvm"]
    result = clang.run([*options, *clang.header_options, *case.options, "-o", "-", "-"], case.source)
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.mark.compiled_devices
@pytest.mark.parametrize("case", OPTIMISED, ids=lambda case: case.name)
def test_same_results(context: pyopencl.Context, case: Case) -> None:
    assert difference(context, case, rewritten(case)) == ""
