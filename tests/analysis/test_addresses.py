"""The steps of address arithmetic, in bytes."""

from __future__ import annotations

import pytest

from coarsen.analysis.algebra.polynomial import Polynomial
from coarsen.analysis.algebra.walk import address_steps
from coarsen.frontend.lower import lower
from coarsen.ir.kernel import Kernel

KERNEL = """
target triple = "spir64-unknown-unknown"
%record = type {{ i8, [8 x float], <4 x i16> }}
define spir_kernel void @k(ptr addrspace(1) %p, i64 %i, i32 %j) {{
  %place = getelementptr {indices}
  store i8 0, ptr addrspace(1) %place
  ret void
}}
"""


def kernel(indices: str) -> Kernel:
    return lower(KERNEL.format(indices=indices))


@pytest.mark.parametrize(
    ("indices", "expected"),
    [
        ("float, ptr addrspace(1) %p, i64 %i", [(4, "i")]),
        ("<3 x float>, ptr addrspace(1) %p, i64 %i", [(16, "i")]),
        ("[4 x [8 x i16]], ptr addrspace(1) %p, i64 %i, i32 %j, i64 %i", [(64, "i"), (16, "j"), (2, "i")]),
        ("%record, ptr addrspace(1) %p, i64 %i, i32 1, i32 %j", [(48, "i"), (4, ""), (4, "j")]),
        ("%record, ptr addrspace(1) %p, i64 %i, i32 2, i32 %j", [(48, "i"), (40, ""), (2, "j")]),
    ],
)
def test_steps(indices: str, expected: list[tuple[int, str]]) -> None:
    lowered = kernel(indices)
    steps = address_steps(lowered.definition["place"])
    assert steps is not None
    assert [(step.bytes, "" if step.index is None else step.index.text) for step in steps] == expected


@pytest.mark.parametrize(("value", "width", "expected"), [(5, 8, 5), (255, 8, -1), (128, 8, -128), (2**32, 32, 0)])
def test_coefficients_modulo_a_width_are_small_numbers(value: int, width: int, expected: int) -> None:
    polynomial = Polynomial({("x",): value, (): 1}).modulo(width)
    assert polynomial == Polynomial.symbol("x").scaled(expected) + Polynomial.constant(1)
