"""The kernels that are kept with their measured rows: what is learned from the rows is learned of these."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from coarsen.errors import InvalidInputError
from coarsen.frontend.lower import lower
from coarsen.opencl_bench.workloads.lookup import find_benchmark, find_measured
from coarsen.opencl_bench.workloads.training_kernels import kept_kernels, training_kernel
from coarsen.tuning.workload.benchmark import (
    Argument,
    Benchmark,
    BufferArgument,
    LocalArgument,
    ScalarArgument,
)

SYNTHETIC = [training_kernel(f"synthetic-0-{number}") for number in range(300)]
# Of what the generators drew.
ALL = "c6aa1db2d3aeccc5"
ALL_LAUNCH = "0ef5187db92393b0"
HASHES = {"launch-0-0": "a6c68ea32eaa21f8", "launch-0-42": "c8f2dc21c5789eb6", "launch-0-333": "ef29d56413ae35bd"}
INPUTS = "618c51cd10018c7f"
# Each mechanism once.
ROUND = [f"launch-0-{number}" for number in range(28)]
CLASSES = ("few", "caches", "memory", "gpu_caches", "gpu_memory")


def argument_text(argument: Argument) -> str:
    match argument:
        case BufferArgument(name):
            return name
        case ScalarArgument(value):
            assert value.dtype == np.uint32
            return str(value)
        case LocalArgument(byte_count):
            return f"local {byte_count}"
    raise AssertionError(argument)


def what_is_kept(benchmark: Benchmark) -> str:
    """A kernel's source, kind and launches."""
    parts = [benchmark.name, benchmark.kernel, benchmark.family, *sorted(benchmark.mechanisms), benchmark.source]
    for name, preset in benchmark.presets.items():
        (launch,) = benchmark.real_launches(name)
        assert (launch.kernel, launch.local_size) == (benchmark.kernel, preset.local_size)
        assert tuple(preset.size.values()) == launch.global_size
        parts += [name, str(launch.global_size), str(launch.local_size), *map(argument_text, launch.arguments)]
    return "\0".join(parts)


def test_they_are_what_was_measured() -> None:
    assert [*kept_kernels("synthetic")] == [each.name for each in SYNTHETIC]
    found = hashlib.sha256()
    for benchmark in SYNTHETIC:
        assert list(benchmark.presets) == ["cpu", "gpu"]
        found.update(what_is_kept(benchmark).encode())
    assert found.hexdigest()[:16] == ALL


def test_a_launch_has_an_argument_for_each_parameter() -> None:
    for benchmark in SYNTHETIC[::60]:
        (launch,) = benchmark.launches("cpu")
        assert len(launch.arguments) == len(
            lower(benchmark.code, benchmark.kernel, benchmark.own_options).arguments
        )


def test_they_have_one_local_size_and_are_not_measured_again() -> None:
    benchmark = find_measured("synthetic-0-1")
    with pytest.raises(InvalidInputError, match="synthetic-0-1: its local sizes are 128, not 64"):
        benchmark.real_launches("cpu", (64,))
    with pytest.raises(InvalidInputError, match=r"synthetic-0-1 is known by the rows .* launch-0-0 for one"):
        benchmark.workload("cpu")


@pytest.mark.parametrize("name", ["synthetic-0-300", "synthetic-1-0", "synthetic-0-01", "synthetic-"])
def test_there_are_no_others(name: str) -> None:
    with pytest.raises(InvalidInputError, match=f"the kernel '{name}' is not in the suite"):
        find_measured(name)


def digest(*texts: object) -> str:
    return hashlib.sha256("\0".join(map(str, texts)).encode()).hexdigest()[:16]


def what_is_measured(name: str) -> str:
    """A kernel's source, its sizes and its local sizes."""
    benchmark = training_kernel(name)
    presets = [preset for preset_name, preset in benchmark.presets.items() if preset_name not in ("cpu", "gpu")]
    sizes = [sorted(preset.size.items()) for preset in presets]
    return f"{benchmark.source}{sizes}{benchmark.local_sizes}{benchmark.inputs_hash}"


@pytest.mark.parametrize("name", HASHES)
def test_a_name_stands_for_the_same_kernel_for_ever(name: str) -> None:
    assert digest(what_is_measured(name)) == HASHES[name]


def test_none_of_the_measured_kernels_has_changed() -> None:
    assert digest(*(what_is_measured(f"launch-0-{number}") for number in range(1000))) == ALL_LAUNCH


def test_their_inputs_have_not_changed() -> None:
    found = hashlib.sha256()
    for number in range(0, 280, 7):
        workload = training_kernel(f"launch-0-{number}").workload("test")
        for buffer, contents in workload.buffers.items():
            found.update(f"{buffer}{contents.dtype.str}{contents.shape}".encode())
            found.update(np.nan_to_num(contents).tobytes())
        (launch,) = workload.launches
        scalars = [each.value.item() for each in launch.arguments if isinstance(each, ScalarArgument)]
        found.update(f"{scalars}{workload.absolute_tolerance}".encode())
    assert found.hexdigest()[:16] == INPUTS


@pytest.mark.parametrize("name", ROUND[::3])
def test_every_local_size_divides_every_size(name: str) -> None:
    benchmark = training_kernel(name)
    assert len(benchmark.local_sizes) >= 4 and set(benchmark.presets) == {"test", *CLASSES, "cpu", "gpu"}
    assert benchmark.presets["cpu"] == benchmark.presets["memory"] != benchmark.presets["gpu"]
    for preset in benchmark.presets:
        for local_size in benchmark.local_sizes:
            (launch,) = benchmark.launches(preset, local_size)
            assert launch.local_size == local_size
            assert all(g % e == 0 for g, e in zip(launch.global_size, local_size, strict=True))
    with pytest.raises(InvalidInputError, match=f"{name}: its local sizes are "):
        benchmark.launches("test", (3,) * len(benchmark.dimensions))


@pytest.mark.parametrize("name", ROUND)
def test_a_kernel_has_its_mechanism_and_all_arguments(name: str) -> None:
    benchmark = find_benchmark(name)
    kernel = lower(benchmark.code, benchmark.kernel, benchmark.build_options)
    workload = benchmark.workload("test")
    (launch,) = workload.launches
    assert len(launch.arguments) == len(kernel.arguments)
    named = [each.name for each in launch.arguments if isinstance(each, BufferArgument)]
    assert sorted(named) == sorted(workload.buffers) and set(workload.outputs) <= {*named}
    (mechanism,) = benchmark.mechanisms
    assert benchmark.family.startswith(f"launch-{mechanism}-")


@pytest.mark.parametrize("name", ["launch-0", "launch-0-012", "launch-0-1000", "launch-1-0"])
def test_names_of_no_kernel(name: str) -> None:
    with pytest.raises(InvalidInputError, match=f"no benchmark '{name}'; there are launch-0-0 to launch-0-999"):
        find_benchmark(name)
