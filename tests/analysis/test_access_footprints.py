"""Strides and the bytes that accesses touch, as expressions."""

from __future__ import annotations

import pytest

from coarsen.analysis.access_footprints import AccessFootprint, access_footprints
from coarsen.analysis.algebra.index_forms import IndexForms
from coarsen.analysis.control_flow import ControlFlow
from coarsen.analysis.expressions import Expression, evaluate, expression_text
from coarsen.analysis.loop_counts import LoopCounts
from coarsen.frontend.lower import lower

SIZES = {
    f"{name}({dimension})": size for dimension in (1, 2) for name, size in [("global_size", 1), ("groups", 1)]
}
SIZES |= {"local_size(1)": 1, "local_size(2)": 1, "global_size(0)": 32, "local_size(0)": 8, "groups(0)": 4}


def stored(body: str) -> AccessFootprint:
    """Where the only store to `data` of a kernel goes."""
    source = f"kernel void k(global int *data, global const int *map, int n, int m)\n{{\n{body}\n}}\n"
    kernel = lower(source)
    found = access_footprints(LoopCounts(IndexForms(kernel, ControlFlow(kernel))))
    [footprint] = [each for each in found if each.access.is_store]
    return footprint


def text(expression: Expression | None) -> str | None:
    """An expression in a line."""
    return None if expression is None else expression_text(expression)


@pytest.mark.parametrize(
    ("index", "strides", "of_launch"),
    [
        ("get_global_id(0)", ["4", "0", "0"], 128),
        ("get_global_id(0) * n", ["4·n", "0", "0"], 128),
        ("get_global_id(1) * n + get_global_id(0)", ["4", "4·n", "0"], 128),
        ("get_local_id(0)", ["4", "0", "0"], 32),
        ("get_group_id(0)", ["0", "0", "0"], 16),
        ("get_global_id(0) / m", ["0", "0", "0"], 64),
        ("get_global_id(0) % m + get_global_id(0) / m * n", ["4", "0", "0"], 128),
        ("n", ["0", "0", "0"], 4),
        ("2 * get_global_id(0) + 1", ["8", "0", "0"], 128),
    ],
)
def test_strides_between_neighbours(index: str, strides: list[str], of_launch: int) -> None:
    found = stored(f"data[{index}] = n;")
    assert [text(stride) for stride in found.strides] == strides
    assert found.of_launch is not None
    assert evaluate(found.of_launch, {**SIZES, "n": 100, "m": 2}) == of_launch
    assert text(found.of_item) == "4"


@pytest.mark.parametrize(
    ("index", "stride", "of_item", "of_launch"),
    [
        ("get_global_id(0) * n + i", "4", 400, 12800),
        ("i * n + get_global_id(0)", "4·n", 400, 12800),
        ("i", "4", 400, 400),
        ("get_global_id(0) + i", "4", 400, 524),
        ("get_global_id(0) + 2 * i", "8", 400, 920),
        ("get_global_id(0)", "0", 4, 128),
    ],
)
def test_strides_between_rounds(index: str, stride: str, of_item: int, of_launch: int) -> None:
    found = stored(f"for (int i = 0; i < n; ++i) data[{index}] = i;")
    assert [text(each) for each in found.iteration_strides.values()] == [stride]
    assert found.of_item is not None and found.of_launch is not None
    assert evaluate(found.of_item, {**SIZES, "n": 100}) == of_item
    assert evaluate(found.of_launch, {**SIZES, "n": 100}) == of_launch


def test_a_matrix_of_two_loops() -> None:
    found = stored("for (int i = 0; i < n; ++i) for (int j = 0; j < m; ++j) data[i * m + j] = n;")
    assert sorted(str(text(stride)) for stride in found.iteration_strides.values()) == ["4", "4·m"]
    assert found.of_item is not None
    assert evaluate(found.of_item, {**SIZES, "n": 5, "m": 7}) == 4 * 35


@pytest.mark.parametrize("index", ["map[get_global_id(0)]", "(int)(get_global_id(0) * get_global_id(0))"])
def test_irregular_strides_are_not_known(index: str) -> None:
    found = stored(f"data[{index}] = n;")
    assert found.strides[0] is None
    assert found.of_group is None and found.of_launch is None


def test_a_loaded_place_is_not_known_along_a_loop() -> None:
    found = stored("for (int i = 0; i < n; ++i) data[map[i]] = n;")
    assert list(found.iteration_strides.values()) == [None]
    assert found.of_item is None
