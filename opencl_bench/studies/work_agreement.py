"""The counts of `WorkFunctions` beside what runs: loads, stores and rounds of loops, for kernels at small sizes.

    python -m coarsen.opencl_bench.studies.work_agreement ten pocl      # as the kernels are
    python -m coarsen.opencl_bench.studies.work_agreement all pocl 4    # coarsened by 4 along dimension 0

Each runs once, on the device that is named, with a counter in every block (`executed_blocks.py`).
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import pyopencl as cl

from coarsen.analysis.algebra.affine import access_patterns
from coarsen.analysis.algebra.index_forms import IndexForms
from coarsen.analysis.control_flow import ControlFlow
from coarsen.analysis.executions import Executions
from coarsen.analysis.expressions import Quantity, evaluate
from coarsen.analysis.loop_counts import Basis, LoopCounts
from coarsen.analysis.trip_counts import trip_counts
from coarsen.cost.work_counts import LaunchSizes, padded
from coarsen.cost.work_functions import launch_sizes_by_name
from coarsen.devices.discovery import open_device
from coarsen.devices.selection import find_device
from coarsen.frontend.lower import lower
from coarsen.ir.kernel import Kernel
from coarsen.opencl_bench.measure.variant_launch import variant_launch
from coarsen.opencl_bench.studies.executed_blocks import LaunchRuns, executed_blocks
from coarsen.opencl_bench.studies.executed_counts import divides, workload_of
from coarsen.opencl_bench.workloads.benchmark import Benchmark, Launch, ScalarArgument, Workload
from coarsen.opencl_bench.workloads.further import further_benchmark, names_of
from coarsen.pipeline import coarsen_kernel
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.variant import Variant

_ASSUMED = {Basis.UNKNOWN, Basis.BOUND}


@dataclass(frozen=True, slots=True)
class Ratio:
    """What was counted, and what ran, in all launches together."""

    counted: float
    executed: int

    @property
    def text(self) -> str:
        """The first over the second, `-` where nothing ran."""
        return f"{self.counted / self.executed:.3f}" if self.executed else "-"


@dataclass(frozen=True, slots=True)
class WorkRow:
    """One kernel.

    Attributes:
        kernel: its name.
        loops: how many it has.
        numbers: of how many of them the code has the count as a number.
        expressions: of how many there is an expression.
        loads: from memory of any kind.
        stores: likewise.
        rounds: runs of loops' bodies.
        assumed: whether data decide something, which was taken for granted.
    """

    kernel: str
    loops: int
    numbers: int
    expressions: int
    loads: Ratio
    stores: Ratio
    rounds: Ratio
    assumed: bool


def work_row(benchmark: Benchmark, queue: cl.CommandQueue, factor: int = 1) -> WorkRow:
    """Return what is counted of a benchmark, and what runs at its preset `test`.

    Args:
        benchmark: the kernel with its driver.
        queue: an in-order queue with profiling enabled, where it runs.
        factor: by which the kernel is coarsened along dimension 0.
    """
    coarsening = Coarsening(factor, 0, 1)
    kernel = lower(benchmark.code, benchmark.kernel, benchmark.build_options)
    work = benchmark.workload("test")
    if factor > 1:
        kernel = coarsen_kernel(kernel, [coarsening])
        work = _divided(workload_of(benchmark, coarsening), coarsening)
    launches = executed_blocks(queue, kernel, work, benchmark.build_options)
    forms = IndexForms(kernel, ControlFlow(kernel))
    loops = LoopCounts(forms)
    runs = Executions(loops)
    found = loops.all()
    bodies = Counter(_body(forms.control_flow, each.header, each.tested_first) for each in found)
    accesses = access_patterns(forms)
    return WorkRow(
        kernel=benchmark.name,
        loops=len(found),
        numbers=len(trip_counts(forms)),
        expressions=sum(each.count is not None for each in found),
        loads=_ratio(kernel, runs, launches, Counter(a.block for a in accesses if a.is_load)),
        stores=_ratio(kernel, runs, launches, Counter(a.block for a in accesses if a.is_store)),
        rounds=_ratio(kernel, runs, launches, bodies),
        assumed=bool(runs.undecided or runs.agreed)
        or any(each.basis in (Basis.UNKNOWN, Basis.BOUND) for each in found),
    )


def _divided(work: Workload, coarsening: Coarsening) -> Workload:
    """The launches that a coarsened kernel can do, as it does them."""
    variant = Variant(coarsenings=(coarsening,))
    launches = [variant_launch(each, variant, ()) for each in work.launches if divides(each, coarsening)]
    return replace(work, launches=tuple(launches))


def _body(flow: ControlFlow, header: str, tested_first: bool) -> str:
    """The block that runs once in each round of a loop."""
    if not tested_first:
        return header
    return next(block for block in flow.successors(header) if block in flow.loop_at[header].blocks)


def _ratio(kernel: Kernel, runs: Executions, launches: Sequence[LaunchRuns], blocks: Mapping[str, int]) -> Ratio:
    counted = 0.0
    executed = 0
    for launch in launches:
        sizes = sizes_of(kernel, launch.launch)
        items = math.prod(launch.launch.global_size)
        counted += items * sum(times * evaluate(runs.of(block), sizes) for block, times in blocks.items())
        executed += sum(times * launch.blocks[block] for block, times in blocks.items())
    return Ratio(counted, executed)


def sizes_of(kernel: Kernel, launch: Launch) -> dict[str, Quantity]:
    """Return the sizes of a launch with its whole scalar arguments, by their names in expressions."""
    sizes = launch_sizes_by_name(LaunchSizes(padded(launch.global_size), padded(launch.local_size)))
    for argument, value in zip(kernel.arguments, launch.arguments, strict=False):
        if isinstance(value, ScalarArgument) and value.value.dtype.kind in "iub":
            sizes[argument.name] = int(value.value)
    return sizes


def table(rows: Sequence[WorkRow]) -> Iterator[str]:
    """Return the rows as lines of text, a heading first and sums last."""
    ratios = f"{'loads':>7} {'stores':>7} {'rounds':>7}"
    yield f"{'kernel':14} {'loops':>5} {'number':>6} {'known':>5} {ratios}  assumed"
    for row in rows:
        yield (
            f"{row.kernel:14} {row.loops:5} {row.numbers:6} {row.expressions:5} {row.loads.text:>7}"
            f" {row.stores.text:>7} {row.rounds.text:>7}  {'yes' if row.assumed else ''}".rstrip()
        )
    loops, numbers = sum(row.loops for row in rows), sum(row.numbers for row in rows)
    yield f"{'all':14} {loops:5} {numbers:6} {sum(row.expressions for row in rows):5}"


def main(arguments: Sequence[str]) -> None:
    """Print the table of the kernels named by the first argument, run on the device named by the second.

    A third is the factor by which they are coarsened.
    """
    properties = cl.command_queue_properties.PROFILING_ENABLE
    queue = cl.CommandQueue(cl.Context([open_device(find_device(arguments[1]))]), properties=properties)
    rows = [work_row(further_benchmark(name), queue, *map(int, arguments[2:])) for name in names_of(arguments[0])]
    print("\n".join(table(rows)))


if __name__ == "__main__":
    main(sys.argv[1:])
