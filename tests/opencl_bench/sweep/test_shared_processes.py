"""Processes that sweeps share: one measures benchmarks one after the other, local sizes share inputs and code."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from coarsen.devices.discovery import DeviceDescription
from coarsen.devices.selection import find_device
from coarsen.opencl_bench.workloads.training_kernels import training_kernel
from coarsen.tuning.measure.opencl_machine import OpenClMachine
from coarsen.tuning.measure.session import Session, Slot
from coarsen.tuning.processes.child_process import ChildProcess
from coarsen.tuning.processes.compiler import CompilePool, Compiler
from coarsen.tuning.processes.measuring_process import SERVICE, Limits, MeasuringProcess, Ready, machine_to_json
from coarsen.tuning.records.code import Code
from coarsen.tuning.records.measurement import CheckedAgainst, Invalidity, Method
from coarsen.tuning.workload.benchmark import Benchmark, LocalArgument
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.variant import LocalSize, Variant

METHOD = Method(repetitions=3, minimum_repetitions=3, grace_seconds=30.0)
# A neighbourhood that is staged in as much local memory as the work-group needs.
TILE = "launch-0-246"
NAMES = ("launch-0-24", "launch-0-13")


@pytest.fixture
def intel() -> Iterator[DeviceDescription]:
    """The device that compiles fastest."""
    yield find_device("intel")


def code_of(benchmark: Benchmark) -> Code:
    return Code("opencl_c", benchmark.kernel, benchmark.source, benchmark.build_options)


def byte_count(benchmark: Benchmark, local_size: LocalSize) -> int:
    """The bytes of local memory that a launch passes."""
    (launch,) = benchmark.launches("test", local_size)
    return sum(each.byte_count for each in launch.arguments if isinstance(each, LocalArgument))


def ready(benchmark: Benchmark, local_size: LocalSize) -> Ready:
    return Ready(Variant(local_size), code_of(benchmark), None, code_of(benchmark))


def test_one_process_measures_one_benchmark_after_the_other(intel: DeviceDescription) -> None:
    with ChildProcess(SERVICE) as child:
        for name in (*NAMES, NAMES[0]):
            benchmark = training_kernel(name)
            first, second, *_ = benchmark.local_sizes
            shared = benchmark.shared_local_size
            machine = machine_to_json(intel)
            with MeasuringProcess(
                name, "test", 0, machine, METHOD, shared_local_size=shared, child=child
            ) as process:
                baseline = ready(benchmark, first)
                outcome = process.measure(baseline, baseline, Limits())
                assert (outcome.invalidity, outcome.oracle) == (Invalidity.CORRECT, CheckedAgainst.NOTHING)
                outcome = process.measure(ready(benchmark, second), baseline, Limits())
                assert (outcome.invalidity, outcome.oracle) == (Invalidity.CORRECT, CheckedAgainst.UNCOARSENED)
            assert child.is_running
        assert shared == first
    assert not child.is_running


def test_local_sizes_share_inputs_and_each_has_its_own_local_memory(intel: DeviceDescription) -> None:
    benchmark = training_kernel(TILE)
    assert len({byte_count(benchmark, size) for size in benchmark.local_sizes}) > 1
    session = Session(OpenClMachine(intel), benchmark, "test", 0, shared_local_size=benchmark.shared_local_size)
    for local_size in benchmark.local_sizes:
        candidate = Variant(local_size)
        session.place(Slot.CANDIDATE, candidate)
        session.load(Slot.CANDIDATE, candidate, code_of(benchmark))
        session.expect(Slot.CANDIDATE, code_of(benchmark))
        assert session.try_out(Slot.CANDIDATE).wrong == ()
    assert len(session._placements) == 1


def test_candidates_of_one_code_are_compiled_once() -> None:
    coarsening = (Coarsening(2),)
    with CompilePool(1) as pool, Compiler("launch-0-24", "opencl_c", None, METHOD, pool) as compiler:
        futures = [compiler.ahead(Variant((size,), coarsening)) for size in (64, 128)]
        assert futures[0] is futures[1] is not compiler.ahead(Variant((64,)))
        assert compiler.compiled(Variant((256,), coarsening)).code is not None


@pytest.mark.compiled_devices
def test_pocl_gives_no_binary(device: DeviceDescription) -> None:
    """It would compile the kernel once more, for any local size."""
    code = Code("opencl_c", "one", "kernel void one(global int *to) { to[get_global_id(0)] = 1; }")
    assert (OpenClMachine(device).compile(code) is None) == device.is_called("pocl")
