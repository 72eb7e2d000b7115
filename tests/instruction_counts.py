"""Count the instructions per replica against the uncoarsened kernel.

    python -m tests.instruction_counts

For each benchmark, dimension and stride: the instructions of the code, uncoarsened and at factor 8 with clean-up
and without. The rule is that a replica never has more than 1.1 times the instructions of the uncoarsened kernel;
rows that break it are marked. The whole code, slow paths included, is shown beside it; the rule is about what runs
while the replicas agree. The instructions are LLVM's, in normal form:

    code        every instruction once: the size of the code
    together    without the slow paths, which run where replicas part: what runs while they agree
    weighted    the same, times how often each block runs (`block_weights`): a measure of the time
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from rich.console import Console
from rich.table import Table

from coarsen.analysis.algebra.index_forms import IndexForms
from coarsen.analysis.control_flow import ControlFlow
from coarsen.cost.block_profile import block_weights
from coarsen.frontend.lower import lower
from coarsen.ir.graph.instruction import Block
from coarsen.ir.kernel import Kernel
from coarsen.opencl_bench.workloads.lookup import SUITE
from coarsen.pipeline import run_pipeline
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.transforms import DEFAULT, Transforms
from coarsen.variant.variant import Variant

FACTOR = 8
STRIDES = (1, 2)
MOST = 1.1  # times the uncoarsened kernel's instructions
_WIDTH = 150
WITHOUT = replace(DEFAULT, clean_up=False)


@dataclass(frozen=True, slots=True)
class CountComparison:
    """A benchmark coarsened along one dimension; the counts are per replica."""

    benchmark: str
    coarsening: Coarsening
    original: Counts
    without: Counts
    cleaned: Counts

    @property
    def growth(self) -> dict[str, float]:
        """Return the ratio of a replica's instructions, cleaned up, to the original's, by what is counted."""
        return {
            "together": self.cleaned.together / self.original.together,
            "weighted": self.cleaned.weighted / self.original.weighted,
        }

    @property
    def keeps_rule(self) -> bool:
        """Return True if no count grows by more than a tenth."""
        return max(self.growth.values()) <= MOST


def rows(name: str) -> Iterator[CountComparison]:
    """Count a benchmark along each of its dimensions with each stride."""
    benchmark = SUITE[name]
    kernel = lower(benchmark.code, benchmark.kernel, benchmark.build_options)
    original = code_counts(kernel)
    for dimension, stride in itertools.product(benchmark.dimensions, STRIDES):
        coarsening = Coarsening(FACTOR, dimension, stride)
        without, cleaned = (_coarsened(kernel, coarsening, transforms) for transforms in (WITHOUT, DEFAULT))
        yield CountComparison(name, coarsening, original, without, cleaned)


def _coarsened(kernel: Kernel, coarsening: Coarsening, transforms: Transforms) -> Counts:
    coarsened = run_pipeline(kernel, Variant(coarsenings=(coarsening,), transforms=transforms))
    return code_counts(coarsened.kernel, coarsening.factor, coarsened.parted)


def main() -> int:
    """Count and print; the exit status is 1 where the rule is broken."""
    found = [row for name in SUITE for row in rows(name)]
    Console(width=_WIDTH, highlight=False).print(_table(found))
    return 0 if all(row.keeps_rule for row in found) else 1


def _table(found: Sequence[CountComparison]) -> Table:
    title = f"instructions per replica at factor {FACTOR}: without clean-up → with it (over uncoarsened)"
    table = Table(title=title)
    table.add_column("kernel")
    for heading in ("dimension", "stride", "uncoarsened", "code", "while together", "weighted", ""):
        table.add_column(heading, justify="right")
    for row in found:
        code = row.cleaned.code / row.original.code
        table.add_row(
            *(row.benchmark, str(row.coarsening.dimension), str(row.coarsening.stride)),
            f"{row.original.code:.0f}",
            f"{row.without.code:.1f} → {row.cleaned.code:.1f} ({code:.2f})",
            f"{row.without.together:.1f} → {row.cleaned.together:.1f} ({row.growth['together']:.2f})",
            f"{row.without.weighted:.0f} → {row.cleaned.weighted:.0f} ({row.growth['weighted']:.2f})",
            "" if row.keeps_rule else "more than 1.1",
        )
    return table


@dataclass(frozen=True, slots=True)
class Counts:
    """Instructions per replica; of an uncoarsened kernel, the whole kernel's."""

    code: float
    together: float
    weighted: float


def code_counts(kernel: Kernel, factor: int = 1, parted: frozenset[str] = frozenset()) -> Counts:
    """Return the counts of a kernel, for each replica.

    Args:
        kernel: as it is written out.
        factor: how many work-items it does the work of.
        parted: the blocks that run where replicas have parted (`CoarsenedKernel.parted`).
    """
    control_flow = ControlFlow(kernel)
    weights = block_weights(IndexForms(kernel, control_flow))
    together = list(_run_together(kernel, control_flow, parted))
    return Counts(
        code=kernel.length / factor,
        together=sum(len(block.instructions) for block in together) / factor,
        weighted=sum(weights[block.name] * len(block.instructions) for block in together) / factor,
    )


def _run_together(kernel: Kernel, control_flow: ControlFlow, parted: frozenset[str]) -> Iterator[Block]:
    """Return the blocks that run while all replicas agree: without those between a parting and where it ends."""
    slow: set[str] = set()
    for block in kernel.blocks:
        if block.name in parted:
            slow |= control_flow.between(block.name, control_flow.immediate_post_dominator[block.name])
    return (block for block in kernel.blocks if block.name not in slow)


if __name__ == "__main__":
    sys.exit(main())
