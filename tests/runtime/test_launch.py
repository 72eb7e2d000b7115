"""Dividing launches: exhaustively over small sizes, and the cases that the launch contract names."""

from __future__ import annotations

import itertools

import pytest

from coarsen.runtime.launch import DividedLaunch, LaunchLimits, divide_launch
from coarsen.variant.coarsening import Coarsening, Level

LIMITS = LaunchLimits(1024, (1024, 1024, 64))

Sizes = tuple[int, ...]


def factors_of(launch: DividedLaunch) -> dict[int, int]:
    return {coarsening.dimension: coarsening.factor for coarsening in launch.coarsenings}


def assert_is_right(global_size: Sizes, local_size: Sizes | None, launch: DividedLaunch) -> None:
    """Whatever was decided covers the original NDRange exactly, work-group by work-group."""
    factors = factors_of(launch)
    undone = tuple(size * factors.get(dimension, 1) for dimension, size in enumerate(launch.global_size))
    assert undone == global_size
    if local_size is not None:
        assert launch.local_size is not None
        restored = tuple(size * factors.get(dimension, 1) for dimension, size in enumerate(launch.local_size))
        assert restored == local_size
    for coarsening in launch.coarsenings:
        assert coarsening.factor > 1
        if launch.local_size is None:
            assert coarsening.stride == 1
        else:
            assert launch.local_size[coarsening.dimension] % coarsening.stride == 0


def test_one_dimension_exhaustively() -> None:
    for global_size, local_size, factor, stride in itertools.product(
        range(1, 25), [None, *range(1, 13)], range(1, 9), range(1, 5)
    ):
        local = None if local_size is None else (local_size,)
        launch = divide_launch((global_size,), local, [Coarsening(factor, 0, stride)], LIMITS)
        assert_is_right((global_size,), local, launch)
        used = factors_of(launch).get(0, 1)
        larger = range(used + 1, factor + 1)
        extent = global_size if local_size is None else local_size
        whole = local_size is None or global_size % local_size == 0
        assert not any(whole and extent % (bigger * stride) == 0 for bigger in larger), "a larger factor fits"
        assert (launch.note is None) == (used == factor or not whole)


@pytest.mark.parametrize(
    ("global_size", "local_size", "factor", "stride", "expected"),
    [
        ((64,), (16,), 4, 1, ((16,), (4,), 4)),
        ((64,), (16,), 4, 4, ((16,), (4,), 4)),
        ((60,), (12,), 8, 1, ((10,), (2,), 6)),
        ((64,), (16,), 8, 4, ((16,), (4,), 4)),
        ((64,), (16,), 32, 1, ((4,), (1,), 16)),
        ((7,), (7,), 4, 1, ((7,), (7,), 1)),
        ((64,), (16,), 4, 3, ((64,), (16,), 1)),
        ((100,), None, 8, 1, ((20,), None, 5)),
        ((97,), None, 8, 1, ((97,), None, 1)),
    ],
)
def test_factors(
    global_size: Sizes,
    local_size: Sizes | None,
    factor: int,
    stride: int,
    expected: tuple[Sizes, Sizes | None, int],
) -> None:
    launch = divide_launch(global_size, local_size, [Coarsening(factor, 0, stride)], LIMITS)
    assert (launch.global_size, launch.local_size, factors_of(launch).get(0, 1)) == expected


def test_factors_along_several_dimensions_divide_each() -> None:
    coarsenings = [Coarsening(2, 0), Coarsening(4, 1, 2), Coarsening(3, 2)]
    launch = divide_launch((8, 16, 9), (4, 8, 3), coarsenings, LIMITS)
    assert (launch.global_size, launch.local_size) == ((4, 4, 3), (2, 2, 1))
    assert launch.coarsenings == tuple(coarsenings) and launch.note is None


def test_a_dimension_that_does_not_divide_leaves_the_others() -> None:
    launch = divide_launch((8, 7), (4, 7), [Coarsening(4, 0), Coarsening(4, 1)], LIMITS)
    assert factors_of(launch) == {0: 4}
    assert launch.note is not None and "factor 4 along dimension 1" in launch.note


def test_a_launch_with_too_few_dimensions_is_the_originals() -> None:
    launch = divide_launch((64,), (16,), [Coarsening(4, 1)], LIMITS)
    assert launch.coarsenings == () and launch.global_size == (64,)
    assert launch.note is not None and "the original kernel" in launch.note


def test_a_local_size_beyond_the_device_is_fine_where_the_coarsened_one_is_not() -> None:
    launch = divide_launch((8192,), (4096,), [Coarsening(4, 0)], LIMITS)
    assert launch.local_size == (1024,)


@pytest.mark.parametrize(
    ("global_size", "local_size"),
    [
        *[((0,), None), ((10,), (4,)), ((8, 8), (4,)), ((8,), (0,)), ((-4,), None), ((), None), ((8,), (16,))],
        *[((4, 2, 2, 2), None), ((4, 2, 2, 2), (2, 1, 1, 1))],
    ],
)
@pytest.mark.parametrize("level", Level)
def test_what_opencl_rejects_or_splits_is_left_alone(
    global_size: Sizes, local_size: Sizes | None, level: Level
) -> None:
    launch = divide_launch(global_size, local_size, [Coarsening(2, 0, level=level)], LIMITS)
    assert launch == DividedLaunch(global_size, local_size, ())


def test_an_open_local_size_is_chosen_for_a_stride() -> None:
    launch = divide_launch((4096,), None, [Coarsening(4, 0, 8)], LIMITS)
    assert launch.global_size == (1024,) and launch.local_size == (256,)
    launch = divide_launch((48, 1000), None, [Coarsening(2, 1, 4)], LIMITS)
    assert launch.global_size == (48, 500) and launch.local_size == (48, 4)


def test_strides_that_no_work_group_holds_leave_the_original() -> None:
    small = LaunchLimits(16, (16, 16, 16))
    launch = divide_launch((256, 256), None, [Coarsening(2, 0, 8), Coarsening(2, 1, 8)], small)
    assert launch.coarsenings == () and launch.local_size is None and launch.note
    launch = divide_launch((256,), None, [Coarsening(2, 0, 32)], small)
    assert launch.coarsenings == () and launch.note


def test_chosen_local_sizes_exhaustively() -> None:
    limits = LaunchLimits(12, (12, 6, 4))
    for width, height, factor, first, second in itertools.product(
        range(1, 13), range(1, 13), range(1, 4), range(1, 4), range(1, 4)
    ):
        coarsenings = [Coarsening(factor, 0, first), Coarsening(2, 1, second)]
        launch = divide_launch((width, height), None, coarsenings, limits)
        assert_is_right((width, height), None, launch)
        if launch.local_size is not None:
            assert launch.local_size[0] * launch.local_size[1] <= 12
            assert launch.local_size[0] <= 12 and launch.local_size[1] <= 6
            assert (
                launch.global_size[0] % launch.local_size[0] == launch.global_size[1] % launch.local_size[1] == 0
            )
