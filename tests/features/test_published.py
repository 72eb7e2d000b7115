"""The features that the paper defines otherwise than others would, counted by hand."""

from __future__ import annotations

import pytest

from tests.features.counted_kernels import GUARDED, NEIGHBOUR, extract, lowered

# entry: call, trunc, call, trunc, icmp, br
# row: sext, gep, load, icmp, br
# item: mul, add, sext, gep, store, br
# end: ret
GRID = """
kernel void grid(global int *output, global const int *rows, int width, int height)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (y < height) {
        int row = rows[y];
        if (x < width)
            output[y * width + x] = row;
    }
}
"""

# One block: call, trunc, then sext, gep, load for a, b and c, add, mul, sext, gep, store, ret.
LOADS = """
kernel void loads(global int *output, global const int *a, global const int *b, global const int *c)
{
    int x = get_global_id(0);
    int first = a[x], second = b[x], third = c[x];
    output[x] = (second + third) * first;
}
"""

COUNTED = {
    "guarded": (
        GUARDED,
        {
            "divergent_instructions": 12,
            "divergent_region_instructions": 12,
            "divergent_region_ratio": 12 / 17,
            "divergent_regions": 1,
            "instruction_level_parallelism": (4 / 4 + 12 / 6 + 1 / 1) / 3,
            # Between the first load and the root of it stands the second, between that and its use none.
            "memory_level_parallelism": (0 + 1 / 2 + 0) / 3,
        },
    ),
    "neighbour": (
        NEIGHBOUR,
        {
            "divergent_instructions": 8,
            "divergent_region_instructions": 0,
            "divergent_region_ratio": 0,
            "divergent_regions": 0,
            "instruction_level_parallelism": 12 / 5,
            "memory_level_parallelism": 0,
        },
    ),
    "grid": (
        GRID,
        {
            # All but the two branches out of the regions, and the return: along either dimension.
            "divergent_instructions": 6 + 5 + 5,
            "divergent_region_instructions": 5 + 6,
            "divergent_region_ratio": 11 / 18,
            "divergent_regions": 2,
            "instruction_level_parallelism": (6 / 4 + 5 / 3 + 6 / 5 + 1) / 4,
            "memory_level_parallelism": 0,
        },
    ),
    "loads": (
        LOADS,
        {
            "divergent_instructions": 16,
            "divergent_region_instructions": 0,
            "divergent_region_ratio": 0,
            "divergent_regions": 0,
            "instruction_level_parallelism": 17 / 8,
            "memory_level_parallelism": (2 + 1 + 0) / 3,
        },
    ),
}


@pytest.mark.parametrize(("source", "expected"), COUNTED.values(), ids=COUNTED)
def test_features_are_those_counted_by_hand(source: str, expected: dict[str, float]) -> None:
    found = extract(lowered(source)).by_name()
    assert {name: found[name] for name in expected} == pytest.approx(expected)


def test_along_another_dimension_only_uniform_loads_differ() -> None:
    along_0, along_1 = (extract(lowered(GRID), dimension).by_name() for dimension in (0, 1))
    assert {name for name in along_0 if along_0[name] != along_1[name]} == {"uniform_loads"}


def test_a_region_is_counted_as_often_as_its_branch_stands() -> None:
    kernel = lowered(GRID)
    # Along dimension 0 the rows' region stands once, the items' region in it four times; along 1 all is copied.
    assert extract(kernel, 0, 4).divergent_regions == 1 + 4
    assert extract(kernel, 1, 4).divergent_regions == 4 + 4


def test_replicas_of_a_load_come_into_each_others_intervals() -> None:
    # Of the four replicas of the first load: 3, 2, 1 and 0 of its own follow, then eight others; and so on.
    assert extract(lowered(LOADS), 0, 4).memory_level_parallelism == ((1.5 + 8) + (1.5 + 4) + 1.5) / 3


def test_loops_are_one_region() -> None:
    source = """
    kernel void search(global int *data)
    {
        int x = get_global_id(0);
        while (data[x] > 0)
            x += data[x];
        data[0] = x;
    }
    """
    assert extract(lowered(source)).divergent_regions == 1
