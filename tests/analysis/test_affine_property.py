"""Strides that the analysis finds, against addresses that are computed for neighbouring work-items."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from coarsen.analysis.algebra.affine import INDIRECT, SYMBOLIC, Access, access_patterns
from coarsen.analysis.algebra.index_forms import IndexForms
from coarsen.analysis.control_flow import ControlFlow
from coarsen.frontend.lower import lower
from coarsen.ir.kernel import Kernel
from tests.analysis.address_interpreter import WorkItem, address

LEAVES = [
    *("(long)(int)get_global_id(0)", "(long)(int)get_global_id(1)", "(long)get_local_id(0)"),
    *("(long)(int)get_group_id(0)", "(long)(int)get_local_size(0)", "(long)n", "(long)m"),
]
TYPES = {"int": 4, "float": 4, "long": 8, "char": 1}
ITEMS = [
    WorkItem((2, 1), (3, 5), (16, 16), {"data": 1 << 20, "n": 7, "m": 3}),
    WorkItem((0, 3), (9, 2), (32, 8), {"data": 1 << 20, "n": -5, "m": 12}),
    WorkItem((4, 2), (1, 0), (23, 11), {"data": 1 << 20, "n": 31, "m": -17}),
]
STEPS = range(6)


def combined(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Sums, differences, products, shifts by constants, in the spelling of OpenCL C."""
    pairs = st.tuples(parts, st.sampled_from(["+", "-", "*"]), parts)
    return pairs.map(lambda p: f"({p[0]} {p[1]} {p[2]})") | st.tuples(parts, st.integers(0, 3)).map(
        lambda p: f"({p[0]} << {p[1]})"
    )


EXPRESSIONS = st.recursive(st.sampled_from(LEAVES) | st.integers(-20, 20).map(str), combined, max_leaves=5)


def lowered(expressions: Sequence[str], type_: str) -> Kernel:
    stores = "\n".join(f"    data[{expression}] = {number};" for number, expression in enumerate(expressions))
    return lower(f"kernel void k(global {type_} *data, int n, int m)\n{{\n{stores}\n}}\n")


def gains(kernel: Kernel, access: Access, item: WorkItem, dimension: int) -> set[int]:
    """By how much the addresses of neighbours differ, over some work-items in a row."""
    row = [address(kernel, access.instruction, item.moved(dimension, step)) for step in STEPS]
    return {after - before for before, after in pairwise(row)}


@settings(max_examples=40)
@given(st.lists(EXPRESSIONS, min_size=6, max_size=6), st.sampled_from(sorted(TYPES)))
def test_strides_are_those_of_computed_addresses(expressions: list[str], type_: str) -> None:
    kernel = lowered(expressions, type_)
    accesses = access_patterns(IndexForms(kernel, ControlFlow(kernel)))
    assert len(accesses) == len(expressions)
    for access, expression in zip(accesses, expressions, strict=True):
        assert access.element_bytes == TYPES[type_]
        assert access.base is not None
        assert access.base.text == "data"
        for dimension in (0, 1):
            stride = access.strides[dimension]
            found = [gains(kernel, access, item, dimension) for item in ITEMS]
            if stride is INDIRECT:
                assert any(len(gain) > 1 for gain in found), expression
            elif stride is SYMBOLIC:
                assert all(len(gain) == 1 for gain in found), expression
            else:
                assert found == [{stride}] * len(ITEMS), expression


@settings(max_examples=25)
@given(
    st.lists(
        st.tuples(st.sampled_from([1, 2, 3, 8, 16, 40]), st.sampled_from("/%"), st.sampled_from([2, 4, 8, 10])),
        min_size=4,
        max_size=4,
    )
)
def test_strides_of_quotients_are_those_of_most_neighbours(quotients: list[tuple[int, str, int]]) -> None:
    expressions = [f"{a} * (int)get_global_id(0) {operation} {c}" for a, operation, c in quotients]
    kernel = lowered(expressions, "int")
    item = WorkItem((0, 0), (0, 0), (256, 1), {"data": 0, "n": 1, "m": 1})
    for access in access_patterns(IndexForms(kernel, ControlFlow(kernel))):
        row = [address(kernel, access.instruction, item.moved(0, step)) for step in range(121)]
        moves = [after - before for before, after in pairwise(row)]
        stride = access.strides[0]
        assert stride is not SYMBOLIC
        if stride is INDIRECT:
            assert len(set(moves)) > 1
        else:
            assert 2 * moves.count(stride) >= len(moves)
