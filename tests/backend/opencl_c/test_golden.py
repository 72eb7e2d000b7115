"""The text of representative kernels, as a reader sees it; `--update-golden` renews the files."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from coarsen.backend.opencl_c.writer import write_opencl_c
from tests.backend.opencl_c.cases import CASES

KERNELS = (
    "barrier_in_loop",
    "break_and_continue",
    "constant_tables",
    "do_while",
    "leave_two_loops",
    "images",
    "lost_copy",
    "nested_loops",
    "packed_struct",
    "private_array",
    "short_circuit",
    "swapped_values",
    "vector_lanes",
    "vector_masks",
)


@pytest.mark.parametrize("name", KERNELS)
def test_text(name: str, golden: Callable[[str, str], None]) -> None:
    case = next(case for case in CASES if case.name == name)
    golden(write_opencl_c(case.kernel()).text, f"{name}.cl")
