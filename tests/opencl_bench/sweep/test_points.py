"""The optimisation space: which points there are, in which order, and what speaks against some of them."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coarsen.devices.discovery import DeviceDescription
from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.workloads.lookup import SUITE
from coarsen.tuning.engine.plan import DeviceLimits, Point, Space, SweepPlan, limits_of, points
from coarsen.tuning.workload.benchmark import Benchmark, LocalSize
from coarsen.variant.coarsening import Coarsening, Level
from coarsen.variant.space import TransformChoices
from coarsen.variant.transforms import DeviceKind
from coarsen.variant.variant import Variant

LIMITS = DeviceLimits(1024, (1024, 1024, 64), 64 * 1024)

small_numbers = st.sampled_from([1, 2, 3, 4, 6, 8, 16, 32])


@st.composite
def spaces(draw: st.DrawFn) -> tuple[Benchmark, Space]:
    """A benchmark, and a space of it with some odd factors, strides, dimensions and local sizes."""
    benchmark = SUITE[draw(st.sampled_from(sorted(SUITE)))]
    extents = st.tuples(*[small_numbers] * len(benchmark.dimensions))
    space = Space(
        factors=tuple(draw(st.lists(small_numbers, max_size=4))),
        strides=tuple(draw(st.lists(small_numbers, max_size=3))),
        dimensions=draw(st.none() | st.lists(st.sampled_from([0, 1, 2]), max_size=3).map(tuple)),
        local_sizes=draw(st.none() | st.lists(extents, min_size=1, max_size=4).map(tuple)),
        definitions=(("WIDTH", ("1", "2", "1")),) if draw(st.booleans()) else (),
    )
    return benchmark, space


def default_points(name: str, preset: str = "cpu", limits: DeviceLimits = LIMITS) -> list[Point]:
    return points(SUITE[name], preset, Space(), limits)


def violation(
    name: str, local_size: LocalSize, *coarsenings: Coarsening, limits: DeviceLimits = LIMITS
) -> str | None:
    """What is said of one point."""
    space = Space(
        tuple(c.factor for c in coarsenings),
        tuple(c.stride for c in coarsenings),
        tuple(c.dimension for c in coarsenings),
        (local_size,),
    )
    found = {point.candidate: point.violation for point in points(SUITE[name], "test", space, limits)}
    return found[Variant(local_size, coarsenings)]


@settings(max_examples=60)
@given(spaces())
def test_valid_points_divide_and_fit(drawn: tuple[Benchmark, Space]) -> None:
    for point in points(drawn[0], "test", drawn[1], LIMITS):
        if point.violation is not None:
            assert point.violation and "\n" not in point.violation
            continue
        left = list(point.candidate.local_size)
        for coarsening in point.candidate.coarsenings:
            assert left[coarsening.dimension] % (coarsening.factor * coarsening.stride) == 0
            left[coarsening.dimension] //= coarsening.factor
        assert math.prod(left) <= LIMITS.max_work_group_size
        assert all(extent <= most for extent, most in zip(left, LIMITS.max_work_item_sizes, strict=False))


@settings(max_examples=60)
@given(spaces())
def test_no_two_points_are_equal(drawn: tuple[Benchmark, Space]) -> None:
    candidates = [point.candidate for point in points(drawn[0], "test", drawn[1], LIMITS)]
    assert len(candidates) == len(set(candidates))


@settings(max_examples=60)
@given(spaces())
def test_uncoarsened_points_come_first_and_local_sizes_stay_together(drawn: tuple[Benchmark, Space]) -> None:
    benchmark, space = drawn
    candidates = [point.candidate for point in points(benchmark, "test", space, LIMITS)]
    coarsened = [bool(candidate.coarsenings) for candidate in candidates]
    assert coarsened == sorted(coarsened)
    sizes = [candidate.local_size for candidate in candidates if candidate.coarsenings]
    runs = [size for index, size in enumerate(sizes) if index == 0 or size != sizes[index - 1]]
    assert max(Counter(runs).values(), default=1) == 1
    own = benchmark.presets["test"].local_size
    if any(candidate.local_size == own for candidate in candidates):
        assert candidates[0].local_size == own


@pytest.mark.parametrize("name", SUITE)
def test_the_default_space_is_modest(name: str) -> None:
    valid = sum(point.violation is None for point in default_points(name))
    assert valid in (range(35, 46) if len(SUITE[name].dimensions) == 1 else range(35, 71))


def test_uncoarsened_is_one_point_per_local_size_and_definitions() -> None:
    benchmark = replace(SUITE["mt"], tunables={"B": ("1", "2"), "A": ("x",)})
    space = Space(factors=(2,), local_sizes=((8, 8), (16, 16)), definitions=(("B", ("3", "4", "5")),))
    found = [point.candidate for point in points(benchmark, "cpu", space, LIMITS)]
    expected = [Variant(size, (), (("A", "x"), ("B", b))) for size in ((16, 16), (8, 8)) for b in "345"]
    assert [candidate for candidate in found if not candidate.coarsenings] == expected
    assert found[: len(expected)] == expected


def test_repeated_values_give_one_point() -> None:
    space = Space((2, 2, 1), (1, 1), (0, 0), ((64,), (64,)))
    found = [point.candidate for point in points(SUITE["nbody"], "cpu", space, LIMITS)]
    assert found == [Variant((64,)), Variant((64,), (Coarsening(2),))]


def test_factor_must_divide() -> None:
    found = violation("mt", (8, 12), Coarsening(8, 1))
    assert found == "the factor 8 does not divide the local size 8×12 along 1"


def test_stride_must_divide_what_is_left() -> None:
    found = violation("nbody", (64,), Coarsening(16, 0, 8))
    assert found == "the stride 8 does not divide the coarsened local size 4 along 0"


def test_dimension_must_be_one_of_the_launch() -> None:
    assert violation("nbody", (64,), Coarsening(2, 1)) == "the NDRange has no dimension 1"


def test_the_coarsened_work_group_counts() -> None:
    found = violation("nbody", (2048,))
    assert found == "a work-group would have 2048 work-items, the device allows 1024"
    assert violation("nbody", (2048,), Coarsening(2)) is None


def test_each_dimension_has_a_limit() -> None:
    found = violation("stencil", (2, 2, 128))
    assert found == "a work-group would have 128 work-items along 2, the device allows 64"
    assert violation("stencil", (2, 2, 128), Coarsening(2, 2)) is None


def test_coarsening_saves_no_local_memory() -> None:
    little = replace(LIMITS, local_memory=1000)
    expected = "it needs 1024 bytes of local memory, the device has 1000"
    assert violation("reduce", (64,), limits=little) == expected
    assert violation("reduce", (64,), Coarsening(4), limits=little) == expected


@pytest.mark.parametrize(
    ("name", "local_size", "words"),
    [
        ("reduce", (96,), "does not hold for local_size_0 = 96"),
        ("mtLocal", (8, 4), "'local_size_0 == local_size_1' does not hold"),
        ("mt", (32,), "2 positive numbers"),
    ],
)
def test_the_algorithm_has_a_say(name: str, local_size: LocalSize, words: str) -> None:
    assert words in str(violation(name, local_size))


def test_unknown_preset_and_impossible_factor_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="no preset 'huge'"):
        default_points("mt", "huge")
    with pytest.raises(InvalidInputError, match="factor must be at least 1"):
        points(SUITE["mt"], "cpu", Space(factors=(0,)), LIMITS)


def test_limits_of_a_device(device: DeviceDescription) -> None:
    limits = limits_of(device)
    assert limits.max_work_group_size == device.max_work_group_size
    assert limits.local_memory == device.local_memory
    assert any(point.violation is None for point in points(SUITE["mt"], "cpu", Space(), limits))


def test_levels_and_several_dimensions_and_transforms_at_once() -> None:
    space = Space(
        (1, 2, 4),
        (1,),
        (0, 1),
        ((8, 8),),
        levels=(Level.ITEM, Level.GROUP),
        at_once=2,
        transforms=TransformChoices(wide_accesses=(False, True)),
    )
    found = [point.candidate for point in points(SUITE["sgemm"], "test", space, LIMITS, DeviceKind.CPU)]
    # Four dimensions of two factors each: 8 single coarsenings and 6 · 4 pairs, with and without wide accesses.
    assert len(found) == len(set(found)) == 1 + (8 + 24) * 2
    assert all(variant.transforms.device_kind is DeviceKind.CPU for variant in found[1:])
    assert max(len(variant.coarsenings) for variant in found) == 2
    assert any({entry.level for entry in variant.coarsenings} == {*Level} for variant in found)


def test_a_sample_is_of_points_that_can_run_beside_all_uncoarsened_ones() -> None:
    space = Space(levels=(Level.ITEM, Level.GROUP), at_once=2, sample=40)
    found = points(SUITE["sgemm"], "cpu", space, LIMITS)
    own = SUITE["sgemm"].local_sizes_of("cpu")
    coarsened = [point for point in found if point.candidate.is_coarsened]
    assert {p.candidate.local_size for p in found if not p.candidate.is_coarsened} == {*own}
    assert len(coarsened) == len(set(coarsened)) == 40
    assert all(point.violation is None for point in coarsened)
    assert found == points(SUITE["sgemm"], "cpu", space, LIMITS)


def test_no_variant_merges_more_than_is_asked_for() -> None:
    space = Space(levels=(Level.ITEM, Level.GROUP), at_once=2, most_merged=16, sample=200)
    merged = [point.candidate.factor for point in points(SUITE["sgemm"], "cpu", space, LIMITS)]
    assert max(merged) == 16


def test_a_space_that_nobody_can_try_is_refused() -> None:
    many = tuple(range(1, 60))
    with pytest.raises(InvalidInputError, match="--space sample"):
        points(SUITE["sgemm"], "test", Space(many, many, at_once=2), LIMITS)


def test_local_memory_of_merged_work_groups_adds_up() -> None:
    space = Space((8,), (1,), (0,), ((256,),), levels=(Level.GROUP,))
    (_, point) = points(SUITE["reduce"], "test", space, replace(LIMITS, local_memory=20_000))
    assert point.violation == "it needs 32768 bytes of local memory, the device has 20000"


def test_a_seed_that_no_row_could_hold_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="more than 64 bits"):
        SweepPlan("mt", "intel", seed=2**63)
