"""How long it takes to count the work of sixty configurations of each kernel from their plans.

    python -m coarsen.opencl_bench.studies.planned_budget            # the suite's kernels
    python -m coarsen.opencl_bench.studies.planned_budget 20         # the first synthetic ones of seed 1

Lowering is not counted. Processor time, the least of three rounds, each with a new `PlannedKernel`.
"""

from __future__ import annotations

import itertools
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from coarsen.cost.planned_work.planned_kernel import PlannedKernel
from coarsen.cost.work_counts import LaunchSizes, padded
from coarsen.errors import CoarsenError
from coarsen.frontend.lower import lower
from coarsen.ir.kernel import Kernel
from coarsen.opencl_bench.workloads.benchmark import Benchmark
from coarsen.opencl_bench.workloads.lookup import SUITE
from coarsen.opencl_bench.workloads.synthetic.benchmark import synthetic_benchmark
from coarsen.variant.coarsening import Coarsening, Level
from coarsen.variant.transforms import DEFAULT, Transforms
from coarsen.variant.variant import Variant

ROUNDS = 3
CONFIGURATIONS = 60
GROUPS = 64
_MILLISECONDS = 1000
_FACTORS = (2, 4, 8, 16)


@dataclass(frozen=True, slots=True)
class Budget:
    """What counting a kernel takes, in milliseconds.

    Attributes:
        kernel: its name.
        instructions: of the uncoarsened kernel.
        analysis: what is done once.
        each: for each configuration, those that need an analysis of their own included.
    """

    kernel: str
    instructions: int
    analysis: float
    each: tuple[float, ...]

    @property
    def total(self) -> float:
        """All of it."""
        return self.analysis + sum(self.each)


def configurations(dimensions: int) -> tuple[Variant, ...]:
    """Return sixty configurations of a kernel, each kind in turn.

    Args:
        dimensions: of its NDRange.
    """
    along = [
        (Coarsening(factor, dimension, stride, level),)
        for factor in _FACTORS
        for dimension in range(dimensions)
        for stride, level in ((1, Level.ITEM), (32, Level.ITEM), (1, Level.GROUP))
    ]
    both = [(Coarsening(first, 0), Coarsening(second, 1)) for first in (2, 4) for second in (2, 4)]
    chosen = along + (both if dimensions > 1 else [])
    locals_of: Sequence[tuple[int, ...]] = [(), (64, *(1,) * (dimensions - 1)), (32, *(4,) * (dimensions - 1))]
    transforms = (DEFAULT, Transforms(wide_accesses=True))
    made = (
        Variant(local_size=size, coarsenings=coarsenings, transforms=transform)
        for size, transform, coarsenings in itertools.product(locals_of, transforms, chosen)
    )
    return tuple(itertools.islice(made, CONFIGURATIONS))


def budget_of(benchmark: Benchmark) -> Budget:
    """Return what counting a benchmark's kernel takes."""
    kernel = lower(benchmark.code, benchmark.kernel, benchmark.build_options)
    local = padded(next(iter(benchmark.presets.values())).local_size or (64,))
    first, second, third = (extent * (GROUPS if extent > 1 else 1) for extent in local)
    launch = LaunchSizes((first, second, third), local)
    rounds = [_round(benchmark.name, kernel, launch) for _ in range(ROUNDS)]
    return min(rounds, key=lambda budget: budget.total)


def _round(name: str, kernel: Kernel, launch: LaunchSizes) -> Budget:
    start = time.process_time()
    planned = PlannedKernel(kernel)
    analysis = (time.process_time() - start) * _MILLISECONDS
    each = tuple(
        _timed(planned, variant, launch) for variant in configurations(2 if launch.local_size[1] > 1 else 1)
    )
    return Budget(name, kernel.length, analysis, each)


def _timed(planned: PlannedKernel, variant: Variant, launch: LaunchSizes) -> float:
    start = time.process_time()
    try:
        planned.work(variant, launch)
        planned.plan_costs(variant, launch)
    except CoarsenError:
        pass  # refused, which takes its time as well
    return (time.process_time() - start) * _MILLISECONDS


def table(budgets: Sequence[Budget]) -> Iterator[str]:
    """Return the budgets as lines of text, a heading first."""
    yield f"{'kernel':30} {'instr.':>6} {'once':>6} {'median':>6} {'most':>6} {'all':>6}   milliseconds"
    for each in sorted(budgets, key=lambda budget: budget.total):
        yield (
            f"{each.kernel:30} {each.instructions:6} {each.analysis:6.1f} {statistics.median(each.each):6.2f}"
            f" {max(each.each):6.1f} {each.total:6.0f}"
        )


def main(arguments: Sequence[str]) -> None:
    """Print the table of the suite's kernels, or of so many synthetic ones."""
    if arguments:
        benchmarks = [synthetic_benchmark(1, index) for index in range(int(arguments[0]))]
    else:
        benchmarks = list(SUITE.values())
    print("\n".join(table([budget_of(benchmark) for benchmark in benchmarks])))


if __name__ == "__main__":
    main(sys.argv[1:])
