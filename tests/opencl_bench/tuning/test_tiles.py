"""Tiles inside of loops in the space of a launch: where they can be made, with local sizes for large blocks."""

from __future__ import annotations

import itertools

import pytest

from coarsen.analysis.legality import groups_matter
from coarsen.frontend.lower import lower
from coarsen.opencl_bench.workloads.lookup import find_benchmark
from coarsen.tuning.engine.plan import DeviceLimits, Space, variant_space
from coarsen.tuning.launch_space import AT_ONCE, MOST_MERGED, tiled_starts, with_tiles
from coarsen.tuning.search.spaces import VariantSearchSpace, count_valid
from coarsen.variant.coarsening import Level
from coarsen.variant.space import TransformChoices
from coarsen.variant.transforms import Tile, Transforms
from coarsen.variant.variant import Variant

LIMITS = DeviceLimits(1024, (1024, 1024, 64), 48 << 10)


def test_a_space_that_is_not_listed_has_the_same_variants() -> None:
    benchmark = find_benchmark("mt")
    space = Space(local_sizes=((16, 16),), strides=(1,), factors=(1, 2), transforms=TransformChoices())
    variants = variant_space(benchmark, "cpu", space, LIMITS)
    listed, unlisted = VariantSearchSpace(variants), VariantSearchSpace(variants, 1)
    every = [*itertools.product(*(range(len(axis.values)) for axis in listed.axes))]
    assert listed.listed is not None and unlisted.listed is None
    assert [*filter(unlisted.is_valid, every)] == [*listed.listed]
    assert (count_valid(listed, 1), count_valid(unlisted, 1)) == (len(listed.listed), None)


def test_starts_leave_groups_of_256_work_items() -> None:
    starts = [*tiled_starts((4096, 2048), Transforms())]
    assert [start.local_size for start in starts[:3]] == [(64, 64), (128, 128), (128, 64)]
    assert all(start.transforms.tile == Tile("16") for start in starts)
    assert {start.local_size[0] // start.coarsenings[0].factor for start in starts[:-1]} == {16}
    assert starts[-1] == Variant((16, 16), transforms=Transforms(tile=Tile("16")))
    assert [start.local_size for start in tiled_starts((1024,), Transforms())] == [(1024,), (512,), (256,)]
    assert not [*tiled_starts((100, 100), Transforms())] and not [*tiled_starts((8, 8, 8), Transforms())]


def test_blocks_that_do_not_divide_have_a_guard() -> None:
    assert [start.factor for start in tiled_starts((1008, 2048), Transforms())] == [1]
    starts = [*tiled_starts((1008, 2048), Transforms(), guards=True)]
    assert [(start.factor, start.local_size, start.any_size) for start in starts[-2:]] == [
        (4, (16, 16), True),
        (1, (16, 16), False),
    ]
    assert not [*tiled_starts((1000, 2048), Transforms(), guards=True)]


def test_where_the_local_size_is_fixed_work_groups_are_merged() -> None:
    starts = [*tiled_starts((256, 64), Transforms(), (32, 8))]
    assert {start.local_size for start in starts} == {(32, 8)}
    assert {each.level for start in starts for each in start.coarsenings} == {Level.GROUP}
    assert [start.factor for start in starts] == [1, 4, 16, 32, 32, 64]
    assert [*tiled_starts((64, 64, 64), Transforms(), (8, 8, 4))]
    assert not [*tiled_starts((64, 64), Transforms(), ())]


@pytest.mark.parametrize("demand", ["__attribute__((reqd_work_group_size(16, 16, 1)))", "own[0] = n; barrier(1);"])
def test_a_kernel_that_cares_for_its_groups_has_tiles_at_its_own_local_size(demand: str) -> None:
    benchmark = find_benchmark("sgemm")
    own = benchmark.preset("gpu").local_size
    is_required = demand.startswith("__")
    kernel = lower(
        f"kernel {demand if is_required else ''} void k(global const float *a, global float *c, int n)"
        f" {{ local int own[1]; {'' if is_required else demand} int x = get_global_id(0), y = get_global_id(1);"
        " float s = 0; for (int k = 0; k < n; ++k) s += a[x + k*n] * a[y + k*n]; c[x + y*n] = s + own[0]; }",
        "k",
    )
    assert groups_matter(kernel)
    space = Space(local_sizes=(own,), at_once=AT_ONCE, levels=(Level.ITEM, Level.GROUP), strides=(1,), arrays=())
    found = with_tiles(space, benchmark, "gpu", kernel, own)
    assert found.local_sizes == (own,) and found.transforms.tile[0] == Tile()
    variants = variant_space(benchmark, "gpu", found, LIMITS)
    launch = benchmark.real_launches("gpu", own)[0]
    starts = [*tiled_starts(launch.global_size, Transforms(), own)]
    assert starts[0] == Variant(own, transforms=Transforms(tile=Tile("16")))
    assert all(variants.variant(variants.choice_of(start)) == start for start in starts)


@pytest.mark.parametrize(("name", "has_tiles"), [("sgemm", True), ("nbody", True), ("mt", False), ("spmv", False)])
def test_a_space_has_tiles_where_they_can_be_made(name: str, has_tiles: bool) -> None:
    benchmark = find_benchmark(name)
    own = benchmark.preset("gpu").local_size
    space = Space(local_sizes=(own,), at_once=AT_ONCE, most_merged=MOST_MERGED, strides=(1, 32), arrays=())
    kernel = lower(benchmark.code, benchmark.kernel, benchmark.own_options)
    found = with_tiles(space, benchmark, "gpu", kernel)
    assert (found != space) == has_tiles
    if has_tiles:
        parts = [tile.arrays for tile in found.transforms.tile if tile.arrays]
        assert parts == ([("left",), ("right",)] if name == "sgemm" else [])
        variants = variant_space(benchmark, "gpu", found, LIMITS)
        launch = benchmark.real_launches("gpu", own)[0]
        for start in tiled_starts(launch.global_size, Transforms()):
            assert variants.variant(variants.choice_of(start)) == start
            assert variants.violation(start) is None
            # No device takes such a group of work-items that are not merged.
            if len(start.local_size) == 2 and start.local_size[0] * start.local_size[1] > 1024:
                assert variants.violation(start.uncoarsened()) is not None
