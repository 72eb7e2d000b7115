"""The suite's benchmarks: found, complete, reproducible, with inputs in which a wrong index shows."""

from __future__ import annotations

import numpy as np
import pytest

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.benchmark import BufferArgument
from coarsen.opencl_bench.suite import SUITE, benchmark

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
    assert list(chosen.presets) == ["test", "cpu", "paper"]
    assert f"kernel void {chosen.kernel}(" in chosen.source
    assert chosen.source.startswith("/*")


@pytest.mark.parametrize("name", NAMES)
def test_divisible_local_sizes(name: str) -> None:
    chosen = SUITE[name]
    assert tuple(chosen.divisible_local_sizes) == chosen.dimensions
    for dimension, local_size in chosen.divisible_local_sizes.items():
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
    with pytest.raises(InvalidInputError, match="test, cpu, paper"):
        SUITE["mt"].workload("tiny")
