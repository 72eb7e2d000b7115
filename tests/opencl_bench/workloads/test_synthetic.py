"""The kernels that are kept with their measured rows: what is learned from the rows is learned of these."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from coarsen.errors import InvalidInputError
from coarsen.frontend.lower import lower
from coarsen.opencl_bench.workloads.kernel_source import find_measured
from coarsen.opencl_bench.workloads.synthetic import synthetic_kernels
from coarsen.tuning.workload.benchmark import (
    Argument,
    Benchmark,
    BufferArgument,
    LocalArgument,
    ScalarArgument,
)

# Of what the generator drew.
ALL = "c6aa1db2d3aeccc5"


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
    assert list(synthetic_kernels()) == [f"synthetic-0-{number}" for number in range(300)]
    found = hashlib.sha256()
    for benchmark in synthetic_kernels().values():
        assert list(benchmark.presets) == ["cpu", "gpu"]
        found.update(what_is_kept(benchmark).encode())
    assert found.hexdigest()[:16] == ALL


def test_a_launch_has_an_argument_for_each_parameter() -> None:
    for benchmark in list(synthetic_kernels().values())[::60]:
        (launch,) = benchmark.launches("cpu")
        assert len(launch.arguments) == len(
            lower(benchmark.code, benchmark.kernel, benchmark.own_options).arguments
        )


def test_they_have_one_local_size_and_are_not_measured_again() -> None:
    benchmark = find_measured("synthetic-0-1")
    with pytest.raises(InvalidInputError, match="synthetic-0-1: its local size is 128 and no other"):
        benchmark.real_launches("cpu", (64,))
    with pytest.raises(InvalidInputError, match=r"synthetic-0-1 is known by the rows .* launch-0-0 for one"):
        benchmark.workload("cpu")


@pytest.mark.parametrize("name", ["synthetic-0-300", "synthetic-1-0", "synthetic-0-01", "synthetic-"])
def test_there_are_no_others(name: str) -> None:
    with pytest.raises(InvalidInputError, match=f"the kernel '{name}' is not in the suite"):
        find_measured(name)
