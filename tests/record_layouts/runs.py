"""Runs of kernels on records with other layouts, and what they are compared with.

the rewritten kernel's outputs ─┬─ the kernel as written, on the same device, bit for bit or within its tolerance
                                ├─ guard zones around every buffer
                                └─ Oclgrind's findings, where it runs there
the packed inputs ───────────────── packed by formula
"""

from __future__ import annotations

import enum
import functools
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyopencl as cl
from numpy.typing import NDArray

from coarsen.devices.discovery import DeviceDescription
from coarsen.errors import RefusalError
from coarsen.frontend.lower import lower
from coarsen.ir.kernel import Kernel
from coarsen.opencl_bench.workloads.lookup import find_benchmark
from coarsen.pipeline import run_pipeline
from coarsen.runtime.layout import packed
from coarsen.tuning.measure.comparison import compare
from coarsen.tuning.measure.laid_out import arrangements_of, as_the_host_has_them, laid_out
from coarsen.tuning.measure.machine import LaunchError
from coarsen.tuning.measure.opencl_machine import OpenClMachine
from coarsen.tuning.processes.compile_service import build_options, code_of, original_code
from coarsen.tuning.records.code import Code
from coarsen.tuning.workload.benchmark import Array, Benchmark, BufferArgument, Clock, Workload
from coarsen.variant.variant import Variant
from tests.oclgrind.watch import Findings, Watched, watching
from tests.record_layouts.combinations import PRESET, SEED, Combination, KernelArrays
from tests.record_layouts.independent_packing import packed_by_formula
from tests.transform.harness import workaround

_CODE = re.compile(r"\[([a-z-]+)\]")


class Ending(enum.StrEnum):
    """How a combination ended."""

    SAME_BITS = "same bits"
    TOLERANCE = "within tolerance"
    REFUSED = "refused"
    WRONG = "wrong"


@dataclass(frozen=True)
class Result:
    """How a combination ended: the code of a refusal, or what is wrong in a sentence."""

    ending: Ending
    detail: str = ""


@dataclass
class Bench:
    """A device on which combinations run.

    Attributes:
        machine: the device.
        watched: Oclgrind's context, where it is that; None elsewhere.
        seen: what it found up to now.
    """

    machine: OpenClMachine
    watched: Watched | None
    seen: Findings

    def new_findings(self) -> Findings:
        """Return what was found since the last question."""
        if self.watched is None:
            return Findings()
        self.machine.queue.finish()
        found = self.watched.findings()
        new, self.seen = found - self.seen, found
        return new


@contextmanager
def bench_on(device: DeviceDescription) -> Iterator[Bench]:
    """Open a device; Oclgrind with its checks."""
    machine = OpenClMachine(device)
    if not device.is_called("oclgrind"):
        yield Bench(machine, None, Findings())
        return
    with watching(device) as watched:
        machine.context = watched.context
        properties = cl.command_queue_properties.PROFILING_ENABLE
        machine.queue = cl.CommandQueue(watched.context, properties=properties)
        yield Bench(machine, watched, Findings())


@functools.lru_cache(maxsize=16)
def lowered(name: str) -> Kernel:
    """The kernel's IR."""
    chosen = find_benchmark(name)
    return lower(chosen.code, chosen.kernel, build_options(chosen, chosen.own_definitions))


@functools.lru_cache(maxsize=2)
def workload_of(name: str) -> Workload:
    """The workload at small sizes, with its own local size."""
    return find_benchmark(name).workload(PRESET, SEED)


def arrays_of(name: str) -> KernelArrays:
    """The arrays of a benchmark's kernel."""
    return KernelArrays.of(find_benchmark(name), workload_of(name), lowered(name))


def run(bench: Bench, combination: Combination, as_written: Mapping[str, Array]) -> Result:
    """Run a combination and compare it.

    Args:
        bench: where.
        combination: what.
        as_written: what the kernel leaves as it stands, on the same device.
    """
    name, variant = combination.name, combination.variant
    workload = workload_of(name)
    try:
        outputs, problems = _outputs(bench, workload, _code(find_benchmark(name), variant), variant)
    except RefusalError as refusal:
        return Result(Ending.REFUSED, refusal.code)
    except LaunchError as error:
        found = _CODE.findall(str(error))
        return Result(Ending.REFUSED, found[-1]) if found else Result(Ending.WRONG, str(error))
    problems += compare(outputs, as_written, workload)
    problems += [f"{count} × {finding}" for finding, count in bench.new_findings().items()]
    if problems:
        return Result(Ending.WRONG, "; ".join(problems))
    is_same = all(same_bits(outputs[key], as_written[key]) for key in workload.outputs)
    return Result(Ending.SAME_BITS if is_same else Ending.TOLERANCE)


def run_as_written(bench: Bench, name: str) -> Mapping[str, Array]:
    """Return what a kernel leaves as it stands; Oclgrind finds nothing in it."""
    benchmark = find_benchmark(name)
    code = original_code(benchmark, benchmark.own_definitions, benchmark.source)
    own = Variant(benchmark.preset(PRESET).local_size, (), benchmark.own_definitions)
    outputs, problems = _outputs(bench, workload_of(name), code, own)
    assert not problems and not bench.new_findings(), problems
    return outputs


def _code(benchmark: Benchmark, variant: Variant) -> Code:
    options = build_options(benchmark, variant.definitions)
    made = run_pipeline(lowered(benchmark.name), replace(variant, local_size=()))
    code = code_of(made, "opencl_c", options)
    if not benchmark.other_kernels:
        return code
    return replace(code, others=(original_code(benchmark, variant.definitions, benchmark.source),))


def _outputs(
    bench: Bench, workload: Workload, code: Code, variant: Variant
) -> tuple[Mapping[str, Array], list[str]]:
    """What a launch leaves, and what is wrong with the packed inputs and the guard zones."""
    further = tuple(workaround(bench.machine.context))
    code = replace(
        code,
        options=(*code.options, *further),
        others=tuple(replace(other, options=(*other.options, *further)) for other in code.others),
    )
    arrangements = arrangements_of(workload, code, workload.launches)
    problems = _wrongly_packed(workload, code, variant)
    executor = bench.machine.place(laid_out(workload, arrangements))
    executor.load(code, variant)(Clock.SUM)
    outputs = as_the_host_has_them(executor.outputs(), workload, arrangements)
    return outputs, [*problems, *(f"{name}: written outside" for name in executor.violated())]


def _wrongly_packed(workload: Workload, code: Code, variant: Variant) -> list[str]:
    plans = {plan.argument: plan for plan in variant.arrays}
    own = next(launch for launch in workload.launches if not code.is_sequence or launch.kernel == code.kernel)
    wrong = []
    for laid in code.arrays:
        argument = own.arguments[laid.index]
        assert isinstance(argument, BufferArgument)
        host = workload.buffers[argument.name]
        made = packed(host, laid.arrangement(host.shape))
        if not np.array_equal(made, packed_by_formula(host, plans[laid.argument])):
            wrong.append(f"{laid.argument}: packed otherwise than by formula")
    return wrong


def same_bits(got: NDArray[Any], wanted: NDArray[Any]) -> bool:
    """Return True if two arrays have the same bits in all fields, padding apart."""
    if got.dtype.names is None:
        return got.tobytes() == wanted.tobytes()
    return all(same_bits(got[name], wanted[name]) for name in got.dtype.names)
