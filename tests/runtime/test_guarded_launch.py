"""The arithmetic of launches, modelled: every original work-item is done once, whatever the sizes."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from coarsen.runtime.guarded_launch import guarded_launch, within_local_memory, without_needless_guard
from coarsen.runtime.launch import DividedLaunch, LaunchLimits, divide_launch
from coarsen.variant.coarsening import (
    MOST_MERGED,
    Coarsening,
    Configuration,
    Level,
    configuration,
    configuration_of,
)

Sizes = tuple[int, ...]

LIMITS = LaunchLimits(64, (64, 32, 16))
LARGE = LaunchLimits(1024, (1024, 1024, 64))


def merged(launch: DividedLaunch, dimension: int) -> Iterator[int]:
    """The original positions along a dimension that a coarsened launch comes to, as the transforms define them."""
    chosen = {entry.level: entry for entry in launch.coarsenings if entry.dimension == dimension}
    items = chosen.get(Level.ITEM, Coarsening(1, dimension))
    groups = chosen[Level.GROUP].factor if Level.GROUP in chosen else 1
    extent = launch.global_size[dimension]
    # Without a local size there is but one group: the formula on global ids is the same.
    local = extent if launch.local_size is None or groups == 1 else launch.local_size[dimension]
    for group in range(extent // local):
        for item in range(local):
            for first in range(groups):
                for k in range(items.factor):
                    stride = items.stride
                    position = item // stride * items.factor * stride + item % stride + k * stride
                    yield (group * groups + first) * items.factor * local + position


def assert_complete(launch: DividedLaunch, global_size: Sizes) -> None:
    """Each original work-item once; a guard lets nothing else through, and without one there is nothing else."""
    for dimension, extent in enumerate(global_size):
        reached = sorted(merged(launch, dimension))
        if launch.guarded:
            reached = [position for position in reached if position < extent]
        assert reached == list(range(extent))
    if launch.local_size is not None:
        pairs = zip(launch.global_size, launch.local_size, strict=True)
        assert all(whole % part == 0 for whole, part in pairs)


@st.composite
def launches(draw: st.DrawFn) -> tuple[Sizes, Sizes | None, Configuration]:
    """An original launch, mostly one whose work-groups are whole, and a configuration for its dimensions."""
    dimensions = draw(st.integers(1, 3))
    global_size = tuple(draw(st.integers(1, 40)) for _ in range(dimensions))
    local_size = draw(
        st.none()
        | st.tuples(*(st.sampled_from([d for d in range(1, 9) if size % d == 0]) for size in global_size))
        | st.tuples(*(st.integers(1, 9) for _ in global_size))
    )
    chosen = []
    for dimension in range(dimensions):
        if draw(st.booleans()):
            chosen.append(Coarsening(draw(st.integers(2, 6)), dimension, draw(st.integers(1, 4))))
        if draw(st.integers(0, 2)) == 0:
            chosen.append(Coarsening(draw(st.integers(2, 5)), dimension, 1, Level.GROUP))
    assume(math.prod(entry.factor for entry in chosen) <= MOST_MERGED)
    return global_size, local_size, configuration(chosen)


@settings(max_examples=400)
@given(launches(), st.booleans())
def test_factors_that_divide_cover_every_work_item(
    launch: tuple[Sizes, Sizes | None, Configuration], groups_matter: bool
) -> None:
    global_size, local_size, chosen = launch
    divided = divide_launch(global_size, local_size, chosen, LIMITS, groups_matter)
    if not divided.coarsenings:
        assert (divided.global_size, divided.local_size) == (global_size, local_size)
        return
    assert_complete(divided, global_size)
    if groups_matter and local_size is None:
        assert divided.local_size is not None
        original = list(divided.local_size)
        for entry in divided.coarsenings:
            original[entry.dimension] *= entry.factor if entry.level is Level.ITEM else 1
        assert math.prod(original) <= LIMITS.max_work_group_size


@settings(max_examples=400)
@given(launches(), st.booleans())
def test_guarded_launches_cover_every_work_item(
    launch: tuple[Sizes, Sizes | None, Configuration], any_groups: bool
) -> None:
    global_size, local_size, chosen = launch
    guarded = guarded_launch(global_size, local_size, chosen, LIMITS, any_groups) if chosen else None
    if guarded is None:
        return
    assert guarded.coarsenings == chosen and guarded.note is None
    assert_complete(guarded, global_size)
    assert_complete(without_needless_guard(guarded, global_size), global_size)
    assert math.prod(guarded.global_size) < math.prod(global_size)
    assert math.prod(guarded.local_size or (1,)) <= LIMITS.max_work_group_size


@pytest.mark.parametrize(
    ("global_size", "local_size", "chosen", "expected"),
    [
        ((1000,), (250,), configuration_of(4), ((250,), (250,))),
        ((1000,), (1000,), configuration_of(4), ((256,), (256,))),
        ((999,), None, configuration_of(4), ((256,), None)),
        ((999,), (3,), configuration_of(4), ((252,), (3,))),
        ((1023, 5), (93, 5), configuration_of((2, 2), (0, 1)), ((558, 4), (93, 4))),
        ((30,), (5,), configuration_of(4, level="group"), ((10,), (5,))),
        ((30,), (5,), configuration_of((4, 2), (0, 0), 1, ("group", "item")), ((5,), (5,))),
    ],
)
def test_geometry(
    global_size: Sizes, local_size: Sizes | None, chosen: Configuration, expected: tuple[Sizes, Sizes | None]
) -> None:
    launch = guarded_launch(global_size, local_size, chosen, LARGE)
    assert launch is not None and launch.guarded
    assert_complete(launch, global_size)
    assert (launch.global_size, launch.local_size) == expected


@pytest.mark.parametrize(
    ("global_size", "local_size", "chosen"),
    [
        ((3,), None, configuration_of(4, 0, 8)),
        ((1, 50), None, configuration_of(4)),
        ((30,), None, configuration_of(4, 1)),
        ((30,), (4,), configuration_of(4, level="group")),
        ((0,), None, configuration_of(4)),
        ((4096,), (4096, 1), configuration_of(4)),
        ((4, 40), (4, 3), configuration_of(3)),
        ((9, 2, 2, 2), None, configuration_of(4)),
        ((9, 2, 2, 2), None, configuration_of(4, level="group")),
    ],
)
def test_launches_that_a_guard_does_not_help(
    global_size: Sizes, local_size: Sizes | None, chosen: Configuration
) -> None:
    assert guarded_launch(global_size, local_size, chosen, LARGE, any_groups=True) is None


def test_huge_sizes() -> None:
    """Numbers of work-items beyond 32 bits are plain numbers; at the end of the ids there is no guarded launch."""
    size = 2**40 + 1
    launch = guarded_launch((size,), None, configuration_of(3, 0, 4), LARGE)
    assert launch is not None and launch.global_size[0] * 3 >= size
    assert launch.global_size[0] % 64 == 0 and launch.global_size[0] * 3 < size + 3 * 64 * 4
    small = LaunchLimits(1024, (1024, 1024, 64), address_bits=32)
    assert guarded_launch((2**32 - 2,), (2,), configuration_of(8), small) is not None
    assert guarded_launch((2**32 - 1,), (1,), configuration_of(7, 0, 5), small) is None
    assert guarded_launch((2**64 - 1,), None, configuration_of(2, 0, 64), LARGE) is not None
    grouped = divide_launch((2**61 - 1,), None, configuration_of(2, level="group"), LARGE)
    assert grouped.coarsenings == (), "a prime number of work-items has no work-groups to merge in pairs"


def test_local_memory_bounds_the_factors_of_groups() -> None:
    chosen = configuration_of((4, 2, 8), (0, 1, 0), 1, ("group", "group", "item"))
    assert within_local_memory(chosen, 100, 800) == chosen
    assert [entry.factor for entry in within_local_memory(chosen, 100, 799)] == [3, 2, 8]
    assert [entry.factor for entry in within_local_memory(chosen, 100, 250)] == [2, 8]
    assert [entry.factor for entry in within_local_memory(chosen, 100, 50)] == [8]
    assert within_local_memory(chosen, 0, 0) == chosen
