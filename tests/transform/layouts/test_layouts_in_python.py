"""Layouts through `coarsen.coarsen`: the arrays to pack, and records of host and kernel compared."""

from __future__ import annotations

import numpy as np
import pytest

import coarsen

SOURCE = "typedef struct { float x; int k; } P; kernel void k(global P *all) { all[get_global_id(0)].x = 1; }"
POINT = np.dtype([("x", "f4"), ("k", "i4")])


def test_a_kernel_with_another_layout() -> None:
    kernel = coarsen.coarsen(SOURCE, factor=2, arrays=[coarsen.Layout.aosoa(POINT, 8).plan("all")])
    assert [array.argument for array in kernel.arrays] == ["all"]
    assert "aosoa:8: elements '8: 4@0 4@4'" in kernel.arrays[0].sentence
    assert "/ 8" in kernel.opencl_c


def test_other_elements_are_an_error() -> None:
    plan = coarsen.Layout.soa(np.float32).plan("all", 100)
    with pytest.raises(coarsen.InvalidInputError, match="'8: 4@0 4@4' to the kernel, '4: 4@0' to the host"):
        coarsen.coarsen(SOURCE, arrays=[plan])
