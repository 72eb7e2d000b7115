"""Effects of the fast path and lock-step on kernels, by their code alone: its size, and how much is interleaved.

The code's size is in instructions of the coarsened kernel, as LLVM's passes leave them. The work is that of
`coarsen.report`: instructions weighted by loops, of what stands outside of divergent regions, of regions whose
replicas run interleaved while they agree, and of those that are copied. With both transforms off all of the latter
two is copied.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import mean

from coarsen.frontend.lower import lower
from coarsen.opencl_bench.studies.agreement import choices
from coarsen.opencl_bench.workloads.benchmark import Benchmark
from coarsen.pipeline import carry_out
from coarsen.report import report_of
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.transforms import DeviceKind
from coarsen.variant.variant import Variant


@dataclass(frozen=True, slots=True)
class StaticEffect:
    """A kernel at one factor along one dimension.

    Attributes:
        benchmark: its name.
        dimension: of the NDRange.
        off: instructions of the coarsened kernel with both transforms off.
        on: the same with them on.
        outside: the share, from 0 to 1, of the work of one work-item that stands outside of divergent regions.
        interleaved: the share in regions whose replicas run together while they agree.
        copied: the share in regions whose replicas run one after the other.
    """

    benchmark: str
    dimension: int
    off: int
    on: int
    outside: float
    interleaved: float
    copied: float

    @property
    def growth(self) -> float:
        """Return the ratio of the code's size with them on to that with them off."""
        return self.on / self.off


@dataclass(frozen=True, slots=True)
class Shares:
    """Mean shares of the work, from 0 to 1, each kernel counting the same.

    `of_regions` is the interleaved part of what stands in divergent regions, over the kernels that have such.
    """

    outside: float
    interleaved: float
    copied: float
    of_regions: float


def static_effects(benchmarks: Iterable[Benchmark], factor: int, kind: DeviceKind) -> list[StaticEffect]:
    """Return the effects on benchmarks, along the first dimension of each, for a kind of device.

    Raises RefusalError.
    """
    return [_effect(benchmark, Coarsening(factor, benchmark.dimensions[0]), kind) for benchmark in benchmarks]


def mean_shares(effects: Sequence[StaticEffect]) -> Shares:
    """Return the means over kernels, of which there is at least one."""
    divergent = [effect for effect in effects if effect.interleaved + effect.copied]
    return Shares(
        mean(effect.outside for effect in effects),
        mean(effect.interleaved for effect in effects),
        mean(effect.copied for effect in effects),
        mean([each.interleaved / (each.interleaved + each.copied) for each in divergent] or [0.0]),
    )


def _effect(benchmark: Benchmark, coarsening: Coarsening, kind: DeviceKind) -> StaticEffect:
    lowered = lower(benchmark.code, benchmark.kernel, benchmark.build_options)
    compared = choices(kind)
    off = carry_out(lowered, Variant(coarsenings=(coarsening,), transforms=compared["off"]))
    on = carry_out(lowered, Variant(coarsenings=(coarsening,), transforms=compared["on"]))
    report = report_of(on).coarsenings[0]
    return StaticEffect(
        benchmark.name,
        coarsening.dimension,
        off.kernel.length,
        on.kernel.length,
        report.cost.outside.work / report.cost.work,
        report.interleaved_work / report.cost.work,
        report.copied_work / report.cost.work,
    )
