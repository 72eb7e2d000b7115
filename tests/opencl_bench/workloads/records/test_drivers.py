"""The drivers of kernels on records: complete, reproducible, with inputs in which a wrong index or field shows."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from coarsen.errors import InvalidInputError
from coarsen.frontend.lower import lower
from coarsen.ir.kernel import Kernel
from coarsen.ir.types import StructType
from coarsen.opencl_bench.workloads.benchmark import KERNEL_FOLDER, BufferArgument
from coarsen.opencl_bench.workloads.described.structures import fields_of, structure_of
from coarsen.opencl_bench.workloads.lookup import SUITE, find_benchmark, judge, records
from coarsen.opencl_bench.workloads.records_driver import RecordsKernel, fields_at, filled, record

NAMES = tuple(records())
# Types of 16-byte records of which 15 bytes are data.
ALMOST_FULL = {"records-bitonic_global", "records-bitonic_local", "records-black_scholes_records"}


def test_there_are_eleven_and_every_file_has_a_driver() -> None:
    assert len(NAMES) == 11
    files = {path.stem for path in (KERNEL_FOLDER / "records").iterdir()}
    assert files == {kernel.file for kernel in records().values()}
    assert not set(NAMES) & {*SUITE, *judge()}
    with pytest.raises(InvalidInputError, match=r"no benchmark 'records-kdbin' \(did you mean records-kd_bin"):
        find_benchmark("records-kdbin")


@pytest.mark.parametrize("name", NAMES)
def test_presets_source_and_local_sizes(name: str) -> None:
    chosen = find_benchmark(name)
    assert list(chosen.presets) == ["test", "small", "cpu", "gpu"]
    assert "Kind:" in chosen.source and "Threads:" in chosen.source
    assert f"kernel void {chosen.kernel}(" in chosen.source
    for preset in chosen.presets:
        tried = chosen.local_sizes_of(preset)
        assert {len(local_size) for local_size in tried} == {len(chosen.dimensions)}
        assert max(np.prod(local_size) for local_size in tried) <= 256
        extents = [extent for key, extent in chosen.presets[preset].size.items() if key != "patches"]
        assert all(extent % 32 for extent in extents), "sizes that work-groups divide hide a missing guard"
        assert len(set(extents)) == len(extents), "extents that are equal hide a transposition"


@pytest.mark.parametrize("name", NAMES)
def test_launches_have_whole_groups_and_buffers_that_are_there(name: str) -> None:
    chosen = find_benchmark(name)
    for local_size in chosen.local_sizes_of("test"):
        workload = chosen.workload("test", 0, local_size)
        assert set(workload.outputs) <= set(workload.buffers)
        assert workload.launches == chosen.launches("test", local_size)
        for launch in workload.launches:
            sizes = zip(launch.global_size, launch.local_size, strict=True)
            assert all(total > 0 and total % group == 0 for total, group in sizes)
            used = {argument.name for argument in launch.arguments if isinstance(argument, BufferArgument)}
            assert used == set(workload.buffers)


@pytest.mark.parametrize("name", NAMES)
def test_seed_decides_the_inputs(name: str) -> None:
    first, again, other = (find_benchmark(name).workload("test", seed).buffers for seed in (3, 3, 4))
    assert all(first[key].tobytes() == again[key].tobytes() for key in first)
    assert any(first[key].tobytes() != other[key].tobytes() for key in first)


@pytest.mark.parametrize("name", NAMES)
def test_reference_leaves_the_buffers_alone_and_changes_every_field_of_an_output(name: str) -> None:
    workload = find_benchmark(name).workload("test")
    before = {key: array.tobytes() for key, array in workload.buffers.items()}
    wanted = workload.expected()
    assert set(wanted) == set(workload.outputs)
    for key, array in workload.buffers.items():
        assert array.tobytes() == before[key]
        if key in wanted:
            assert (wanted[key].shape, wanted[key].dtype) == (array.shape, array.dtype)
            assert all(not np.array_equal(wanted[key][field], array[field]) for field in array.dtype.names or ())


@pytest.mark.parametrize("name", NAMES)
def test_no_two_fields_of_an_input_hold_the_same_numbers(name: str) -> None:
    workload = find_benchmark(name).workload("test")
    for key in workload.buffers.keys() - set(workload.outputs):
        array = workload.buffers[key]
        for one, other in itertools.combinations(array.dtype.names or (), 2):
            assert not np.array_equal(array[one], array[other]), (
                f"{key}: {one} and {other} could be taken for each other"
            )


def front_end_type(kernel: Kernel, parameter: str) -> StructType:
    """The structure that a parameter points to, as clang lays it out."""
    (argument,) = (argument for argument in kernel.arguments if argument.name == parameter)
    found = structure_of(kernel, argument)
    assert found is not None
    return found


@pytest.mark.parametrize("driver", records().values(), ids=lambda driver: driver.name)
def test_types_are_those_of_the_structures(driver: RecordsKernel) -> None:
    benchmark = driver.benchmark
    kernel = lower(benchmark.code, benchmark.kernel, benchmark.own_options)
    for parameter, kind in driver.records.items():
        found = fields_of(kernel, front_end_type(kernel, parameter))
        assert (fields_at(found), found.itemsize) == (fields_at(kind), kind.itemsize), parameter


def test_records_with_padding() -> None:
    padded = {name: _largest_data(kernel) for name, kernel in records().items() if kernel.records}
    assert {name for name, (data, size) in padded.items() if (data, size) == (15, 16)} == ALMOST_FULL
    assert sum(data < size for data, size in padded.values()) >= 8


def _largest_data(kernel: RecordsKernel) -> tuple[int, int]:
    """The bytes of data and the size of a record of the kernel's that has padding, or else of its last."""
    return min(
        ((sum(size for _, _, size in fields_at(kind)), kind.itemsize) for kind in kernel.records.values()),
        key=lambda entry: entry[0] - entry[1],
    )


def test_padding_is_not_zero() -> None:
    kind = record(key="ulong", flag="uchar")
    made: np.ndarray[Any, Any] = filled(kind, key=np.array([1, 2]), flag=np.array([3, 4]))
    assert made.view(np.uint8).reshape(2, 16)[:, 9:].tolist() == [[0xA5] * 7] * 2
    assert (made["key"].tolist(), made["flag"].tolist()) == ([1, 2], [3, 4])


def test_unusable_local_size_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="records-bitonic_local: the local size must be a power of two"):
        find_benchmark("records-bitonic_local").workload("test", local_size=(96,))
