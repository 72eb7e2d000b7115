"""The 17 features of kernels that are small enough to be counted by hand."""

from __future__ import annotations

import pytest

from coarsen.errors import InvalidInputError, RefusalError
from coarsen.features import FEATURES, feature_table
from tests.features.counted_kernels import GUARDED, NEIGHBOUR, extract, lowered

GUARDED_FEATURES = {
    "basic_blocks": 3,
    "branches": 1,
    "divergent_instructions": 12,
    "divergent_region_instructions": 12,
    "divergent_region_ratio": 12 / 17,
    "divergent_regions": 1,
    "instructions": 17,
    "floating_point_instructions": 1,
    "instruction_level_parallelism": (4 / 4 + 12 / 6 + 1 / 1) / 3,
    "integer_floating_point_ratio": 1,
    "integer_instructions": 1,
    "math_builtins": 1,
    # Between the first load and the root of it stands the second, between that and its use none.
    "memory_level_parallelism": (0 + 1 / 2 + 0) / 3,
    "loads": 2,
    "stores": 1,
    "uniform_loads": 1,
    "barriers": 0,
}

NEIGHBOUR_FEATURES = {
    "basic_blocks": 1,
    "branches": 0,
    "divergent_instructions": 8,
    "divergent_region_instructions": 0,
    "divergent_region_ratio": 0,
    "divergent_regions": 0,
    "instructions": 12,
    "floating_point_instructions": 0,
    "instruction_level_parallelism": 12 / 5,
    "integer_floating_point_ratio": 1,
    "integer_instructions": 1,
    "math_builtins": 0,
    "memory_level_parallelism": 0,
    "loads": 2,
    "stores": 2,
    "uniform_loads": 1,
    "barriers": 1,
}


@pytest.mark.parametrize(
    ("source", "expected"),
    [(GUARDED, GUARDED_FEATURES), (NEIGHBOUR, NEIGHBOUR_FEATURES)],
    ids=["guarded", "neighbour"],
)
def test_features_are_those_counted_by_hand(source: str, expected: dict[str, float]) -> None:
    assert extract(lowered(source)).by_name() == pytest.approx(expected)


def test_features_at_a_factor_are_those_counted_by_hand() -> None:
    # entry: id, offset, sub, mul, add, trunc, 2 × add, 3 × icmp, br; 3 × region of 12; 2 × br between; ret
    features = extract(lowered(GUARDED), 0, 3)
    assert features.instructions == 5 + 1 + 2 + 3 + 1 + 3 * 12 + 2 + 1
    assert features.basic_blocks == 1 + 3 + 2 + 1
    assert features.branches == 3
    assert features.divergent_regions == 3
    assert features.integer_instructions == 5 + 3
    assert features.loads == 6
    assert features.uniform_loads == 3  # a uniform load in a divergent region is replicated with the region
    # entry: 12 behind id, sub, mul, add, trunc, add, icmp; each copy of the region as before; the rest
    assert features.instruction_level_parallelism == pytest.approx((12 / 7 + 3 * 12 / 6 + 2 * 1 + 1) / 7)


def test_uniform_work_outside_of_regions_stands_once() -> None:
    features = extract(lowered(NEIGHBOUR), 0, 4)
    assert (features.loads, features.uniform_loads) == (1 + 4, 1)
    assert (features.stores, features.barriers) == (8, 1)


def test_along_another_dimension_loads_are_uniform_and_nothing_is_replicated() -> None:
    features = extract(lowered(GUARDED), 1, 4)
    assert (features.divergent_instructions, features.divergent_regions) == (12, 1)
    assert features.loads == features.uniform_loads == 2


def test_vector_follows_the_order_of_the_descriptions() -> None:
    features = extract(lowered(GUARDED))
    assert features.vector().shape == (17,)
    assert [feature.name for feature in FEATURES] == list(GUARDED_FEATURES)
    assert dict(zip(GUARDED_FEATURES, features.vector(), strict=True)) == pytest.approx(features.by_name())


def test_every_feature_is_described() -> None:
    assert all(feature.description and feature.unit for feature in FEATURES)


@pytest.mark.parametrize("factors", [(), (0, 1), (-2,)])
def test_factors_must_be_at_least_one(factors: tuple[int, ...]) -> None:
    with pytest.raises(InvalidInputError, match="at least 1"):
        feature_table(lowered(GUARDED), 0, factors)


def test_a_kernel_that_cannot_be_coarsened_is_refused() -> None:
    source = "kernel void odd(global int *p) { p[0] = work_group_reduce_add(p[1]); }"
    source = f"#pragma OPENCL EXTENSION all : enable\nint work_group_reduce_add(int);\n{source}"
    with pytest.raises(RefusalError):
        extract(lowered(source))
