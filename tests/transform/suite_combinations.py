"""Which benchmarks × dimensions × factors × strides are tested: a pairwise cover of the full product."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass

from coarsen.opencl_bench.workloads.lookup import SUITE
from coarsen.tuning.workload.benchmark import Benchmark
from coarsen.variant.coarsening import Coarsening
from tests.opencl_bench.workloads.divisible import DIVISIBLE
from tests.transform.pairwise import pairwise_cover

FACTORS = (1, 2, 3, 4, 8, 16, 32)
STRIDES = ("1", "2", "coarsened local size")


@dataclass(frozen=True)
class Combination:
    """One benchmark, coarsened in one way."""

    benchmark: str
    coarsening: Coarsening
    stride: str

    def __str__(self) -> str:
        chosen = self.coarsening
        return f"{self.benchmark}-dimension{chosen.dimension}-factor{chosen.factor}-stride{chosen.stride}"

    @property
    def where(self) -> tuple[str, int]:
        """The benchmark and the dimension."""
        return self.benchmark, self.coarsening.dimension

    @property
    def values(self) -> tuple[Hashable, ...]:
        """What a pairwise cover must see together; a benchmark's dimension counts as part of the benchmark."""
        return self.where, self.coarsening.factor, self.stride


def all_combinations() -> list[Combination]:
    """The full product, as far as factor and stride divide the local size that the benchmark offers for it."""
    return [c for benchmark in SUITE.values() for d in benchmark.dimensions for c in _along(benchmark, d)]


def _along(benchmark: Benchmark, dimension: int) -> Iterator[Combination]:
    size = DIVISIBLE[benchmark.name][dimension][dimension]
    for factor in (factor for factor in FACTORS if size % factor == 0):
        rest = size // factor
        # Several names may mean one stride, and with factor 1 all strides are the same kernel.
        names = {int(name) if name.isdigit() else rest: name for name in reversed(STRIDES)}
        for stride in (stride for stride in sorted(names) if rest % stride == 0 and (factor > 1 or stride == 1)):
            yield Combination(benchmark.name, Coarsening(factor, dimension, stride), names[stride])


def chosen_combinations() -> list[Combination]:
    """A pairwise cover of the full product."""
    return pairwise_cover(all_combinations(), lambda combination: combination.values)
