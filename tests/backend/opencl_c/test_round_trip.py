"""Source → IR → OpenCL C gives kernels with the same results, on every device."""

from __future__ import annotations

import pyopencl
import pytest

from coarsen.backend.opencl_c.writer import write_opencl_c
from tests.backend.opencl_c.cases import CASES, COMPILED, OPENCL_2_0, WITH_GOTO
from tests.backend.opencl_c.differential import Case, difference


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_same_results(context: pyopencl.Context, case: Case) -> None:
    assert difference(context, case) == ""


@pytest.mark.compiled_devices
@pytest.mark.parametrize("case", COMPILED, ids=lambda case: case.name)
def test_same_results_where_compiled(context: pyopencl.Context, case: Case) -> None:
    assert difference(context, case) == ""


@pytest.mark.compiled_devices
@pytest.mark.parametrize("case", OPENCL_2_0, ids=lambda case: case.name)
def test_same_results_as_opencl_2(context: pyopencl.Context, case: Case) -> None:
    written = write_opencl_c(case.kernel())
    assert written.standard == "-cl-std=CL2.0"
    if _builds(context, case):  # a device without generic pointers takes neither the original nor what is written
        assert difference(context, case, written) == ""


def _builds(context: pyopencl.Context, case: Case) -> bool:
    try:
        pyopencl.Program(context, case.source).build(list(case.options))
    except pyopencl.Error:
        return False
    return True


@pytest.mark.parametrize("case", [*CASES, *COMPILED], ids=lambda case: case.name)
def test_structured_and_for_opencl_1_2(case: Case) -> None:
    written = write_opencl_c(case.kernel())
    assert written.standard == "-cl-std=CL1.2"
    assert ("goto " in written.text) == (case.name in WITH_GOTO)


def test_same_text_twice() -> None:
    case = next(case for case in CASES if case.name == "memory_blocks")
    assert write_opencl_c(case.kernel()) == write_opencl_c(case.kernel())
