"""Kernels are recognised by their code."""

from __future__ import annotations

import pytest

from coarsen.features.feature_table import kernel_identity
from tests.features.counted_kernels import GUARDED, lowered

SAME = """
// The same with other names, on other lines.
kernel void checked(global float *target, global const float *source, int n, float factor)
{
    int id = get_global_id(0);
    if (id < n) { float one = source[id]; float two = source[n]; target[id] = sqrt(one) * factor + two; }
}
"""


def test_names_and_layout_do_not_matter() -> None:
    assert kernel_identity(lowered(SAME)) == kernel_identity(lowered(GUARDED))


@pytest.mark.parametrize(
    ("part", "other"),
    [
        ("x < count", "x <= count"),
        ("input[count]", "input[count + 1]"),
        ("get_global_id(0)", "get_global_id(1)"),
        ("int count", "long count"),
        ("own) * scale + shared", "shared) * scale + own"),
    ],
)
def test_code_does(part: str, other: str) -> None:
    assert kernel_identity(lowered(GUARDED.replace(part, other))) != kernel_identity(lowered(GUARDED))
