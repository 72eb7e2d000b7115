"""The suite's benchmarks: found, complete, reproducible, with inputs in which a wrong index shows."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.workloads.lookup import SUITE, benchmark, find_benchmark
from coarsen.tuning.workload.benchmark import BufferArgument, LocalSize, Preset, Size, Workload
from tests.opencl_bench.workloads.divisible import DIVISIBLE

NAMES = (
    "binarySearch",
    "blackscholes",
    "convolution",
    "dwtHaar1D",
    "fastWalsh",
    "floydWarshall",
    "mriQ",
    "mt",
    "mtLocal",
    "mvCoal",
    "mvUncoal",
    "nbody",
    "reduce",
    "sgemm",
    "sobel",
    "spmv",
    "stencil",
)


def test_all_seventeen_are_found() -> None:
    assert sorted(SUITE) == sorted(NAMES)
    assert benchmark("mt") is SUITE["mt"]


def test_unknown_name_lists_the_names() -> None:
    with pytest.raises(InvalidInputError, match=r"'sgem'.*sgemm"):
        benchmark("sgem")


@pytest.mark.parametrize("name", NAMES)
def test_presets_and_source(name: str) -> None:
    chosen = SUITE[name]
    assert list(chosen.presets) == ["test", "cpu", "paper", "gpu"]
    assert chosen.presets["test"].feasible and chosen.presets["cpu"].feasible
    assert f"kernel void {chosen.kernel}(" in chosen.source
    assert chosen.source.startswith("/*")


@pytest.mark.parametrize("name", NAMES)
def test_divisible_local_sizes(name: str) -> None:
    assert tuple(DIVISIBLE[name]) == SUITE[name].dimensions
    for dimension, local_size in DIVISIBLE[name].items():
        assert local_size[dimension] % 32 == 0
        assert np.prod(local_size) <= 1024


@pytest.mark.parametrize("name", NAMES)
def test_launches_fit_their_buffers_and_groups(name: str) -> None:
    workload = SUITE[name].workload("test")
    assert set(workload.outputs) <= set(workload.buffers)
    for launch in workload.launches:
        assert launch.kernel == name
        assert len(launch.global_size) == len(launch.local_size) == len(SUITE[name].dimensions)
        sizes = zip(launch.global_size, launch.local_size, strict=True)
        assert all(total % group == 0 for total, group in sizes)
        used = {argument.name for argument in launch.arguments if isinstance(argument, BufferArgument)}
        assert used <= set(workload.buffers)


@pytest.mark.parametrize("name", NAMES)
def test_seed_decides_the_inputs(name: str) -> None:
    first, again, other = (SUITE[name].workload("test", seed).buffers for seed in (3, 3, 4))
    assert all(np.array_equal(first[key], again[key], equal_nan=first[key].dtype.kind == "f") for key in first)
    assert any(not np.array_equal(first[key], other[key]) for key in first if key not in ("output", "result"))


@pytest.mark.parametrize("name", NAMES)
def test_reference_leaves_the_buffers_alone_and_fits_the_outputs(name: str) -> None:
    workload = SUITE[name].workload("test")
    before = {key: array.copy() for key, array in workload.buffers.items()}
    assert workload.reference is not None
    wanted = workload.reference()
    assert set(wanted) == set(workload.outputs)
    for key, array in workload.buffers.items():
        assert np.array_equal(array, before[key], equal_nan=array.dtype.kind == "f")
        if key in wanted:
            assert (wanted[key].shape, wanted[key].dtype) == (array.shape, array.dtype)


@pytest.mark.parametrize(
    ("name", "local_size"),
    [
        ("mt", (32,)),
        ("mt", (0, 4)),
        ("mtLocal", (8, 4)),
        ("reduce", (96,)),
        ("dwtHaar1D", (1,)),
        ("fastWalsh", (96,)),
    ],
)
def test_unusable_local_size_is_refused(name: str, local_size: tuple[int, ...]) -> None:
    with pytest.raises(InvalidInputError, match=name):
        SUITE[name].workload("test", local_size=local_size)


def test_unknown_preset_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="test, cpu, paper, gpu"):
        SUITE["mt"].workload("tiny")


# Extents that the drivers round up to whole work-groups, with the dimension that each is along.
ROUNDED = {
    "binarySearch": {"ranges": 0},
    "dwtHaar1D": {"length": 0},
    "fastWalsh": {"items": 0},
    "mriQ": {"voxels": 0},
    "mt": {"width": 0, "height": 1},
    "mtLocal": {"tiles_x": 0, "tiles_y": 1},
    "nbody": {"bodies": 0},
    "reduce": {"items": 0},
    "sgemm": {"height": 0, "width": 1},
    "sobel": {"width": 0, "height": 1},
    "stencil": {"inner_y": 1, "inner_z": 2},
}


@pytest.mark.parametrize("preset", ["cpu", "paper", "gpu"])
@pytest.mark.parametrize("name", ROUNDED)
def test_every_local_size_solves_the_same_problem(name: str, preset: str) -> None:
    local_sizes = SUITE[name].local_sizes_of(preset)
    for extent, dimension in ROUNDED[name].items():
        multiple = math.lcm(*(local_size[dimension] for local_size in local_sizes))
        assert SUITE[name].presets[preset].size[extent] % multiple == 0


@pytest.mark.parametrize("preset", ["cpu", "paper", "gpu"])
def test_every_local_size_shares_the_nodes(preset: str) -> None:
    extents = (extent for size in SUITE["floydWarshall"].local_sizes_of(preset) for extent in size)
    assert SUITE["floydWarshall"].presets[preset].size["nodes"] % math.lcm(*extents) == 0


@pytest.mark.parametrize("name", NAMES)
def test_local_sizes(name: str) -> None:
    chosen = SUITE[name]
    assert 4 <= len(chosen.local_sizes) <= 5
    for preset in chosen.presets:
        tried = chosen.local_sizes_of(preset)
        assert tried[0] == chosen.presets[preset].local_size
        assert len(set(tried)) == len(tried)
        assert {len(local_size) for local_size in tried} == {len(chosen.dimensions)}


@pytest.mark.parametrize("name", NAMES)
def test_all_launches_have_the_local_size_asked_for(name: str) -> None:
    for local_size in SUITE[name].local_sizes:
        launches = SUITE[name].launches("gpu", local_size)
        assert {launch.local_size for launch in launches} == {local_size}


def test_names_and_paths_are_told_apart(tmp_path: Path) -> None:
    assert find_benchmark("mt") is SUITE["mt"]
    missing = tmp_path / "absent.toml"
    for given in (missing, str(missing)):
        with pytest.raises(InvalidInputError, match=r"absent\.toml"):
            find_benchmark(given)


def test_an_infeasible_reference_is_left_out() -> None:
    huge = replace(SUITE["mt"], presets={"huge": Preset({"width": 16, "height": 16}, (16, 16), feasible=False)})
    assert huge.workload("huge").reference is None


def test_whole_numbers_among_definitions_count_as_extents() -> None:
    seen: list[Size] = []

    def make(size: Size, _local_size: LocalSize, _generator: np.random.Generator) -> Workload:
        seen.append(size)
        return Workload({}, (), (), None)

    chosen = replace(SUITE["nbody"], make_workload=make)
    chosen.workload("test", definitions=(("TILE", "-4"), ("TYPE", "float"), ("bodies", "96")))
    assert seen == [{"bodies": 96, "TILE": -4}]
