"""A few factors of one kernel, measured on a device: which is really the best.

factors ─▶ a sweep with stride 1 at one local size ─▶ speed-ups over factor 1 ─▶ the best

What the sweep has confirmed in new processes counts in place of the first measurement, and where it has confirmed
any, only that competes. A smaller factor wins where its speed-up lies within the interval of the best one's, and
within 5 %: the clock can't tell the two apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from coarsen.errors import CoarsenError, DeviceError, InvalidInputError, VerificationError
from coarsen.opencl_bench.measure.speedup import Speedup
from coarsen.opencl_bench.records.measurement import Invalidity, Measurement, Method, Role
from coarsen.opencl_bench.results.choice import CLEAR_GAIN
from coarsen.opencl_bench.results.speedups import across_processes, speedup_of
from coarsen.opencl_bench.results.store.database import Store
from coarsen.opencl_bench.sweep.engine import sweep
from coarsen.opencl_bench.sweep.observer import SweepObserver
from coarsen.opencl_bench.sweep.plan import Space, SweepPlan
from coarsen.opencl_bench.workloads.benchmark import Benchmark, LocalSize

_UNCOARSENED = Speedup(1.0, 1.0, 1.0)


@dataclass(frozen=True, slots=True)
class MeasuredFactor:
    """How a factor did: its speed-up over factor 1 of the same launch, or how it failed and why.

    `processes`: how many new processes it was timed in again, also if it failed there; 0 if it was timed once.
    """

    factor: int
    speedup: Speedup | None
    invalidity: Invalidity = Invalidity.CORRECT
    reason: str = ""
    processes: int = 0


@dataclass(frozen=True, slots=True)
class MeasuredFactors:
    """The factors that were asked for, in rising order, 1 first; and what the sweep of them came to.

    `rows` are those of the sweep, `measured` how many of them were measured now and not found in the store.
    """

    factors: tuple[MeasuredFactor, ...]
    rows: tuple[Measurement, ...]
    measured: int

    @property
    def best(self) -> MeasuredFactor:
        """The fastest of those that ran correctly; the smallest of those that the clock can't tell from it."""
        correct = [(each, each.speedup) for each in self.eligible if each.speedup is not None]
        _, fastest = max(correct, key=lambda entry: entry[1].ratio)
        least = min(fastest.ratio, max(fastest.low, fastest.ratio / CLEAR_GAIN))
        return next(each for each, gain in correct if gain.ratio >= least)

    @property
    def eligible(self) -> tuple[MeasuredFactor, ...]:
        """Those that can be the best: factor 1, and what was timed again in the most processes."""
        most = max(each.processes for each in self.factors)
        return tuple(each for each in self.factors if each.factor == 1 or each.processes == most)

    @property
    def wrong(self) -> tuple[MeasuredFactor, ...]:
        """Those whose results were wrong."""
        return tuple(each for each in self.factors if each.invalidity is Invalidity.CORRECTNESS)


def plan_of_factors(
    benchmark: Benchmark,
    name: str | Path,
    device: str,
    factors: Iterable[int],
    dimension: int,
    local_size: LocalSize,
    preset: str,
    method: Method | None = None,
) -> SweepPlan:
    """The sweep of a few factors along one dimension, with stride 1, one local size, the macros' first values.

    Args:
        benchmark: the kernel with its inputs; `name` is what a plan calls it.
        device: what names an OpenCL device of this machine.
        factors: above 1; the uncoarsened kernel is always measured.
        dimension: of the NDRange.
        local_size: of the launch before coarsening, in work-items.
        preset: the sizes.
        method: how to time; as `coarsen bench` does if left out.

    Raises:
        InvalidInputError: the benchmark has no such dimension, and no local size of so many numbers.
    """
    if dimension not in benchmark.dimensions:
        own = ", ".join(map(str, benchmark.dimensions))
        raise InvalidInputError(f"{benchmark.name}: its NDRange has no dimension {dimension}, only {own}")
    own_size = benchmark.preset(preset).local_size or local_size
    if len(local_size) != len(own_size):
        such = "x".join(map(str, own_size))
        count = "1 number" if len(own_size) == 1 else f"{len(own_size)} numbers"
        raise InvalidInputError(f"{benchmark.name}: a local size has {count}, {such} for example")
    definitions = tuple((macro, values[:1]) for macro, values in sorted(benchmark.tunables.items()))
    space = Space((1, *sorted(set(factors))), (1,), (dimension,), (local_size,), definitions)
    return SweepPlan(name, device, preset, space=space, method=method or Method())


def measure_factors(plan: SweepPlan, store: Store, observer: SweepObserver | None = None) -> MeasuredFactors:
    """Measure a plan of `plan_of_factors`; rows that the store has already are not measured again.

    Raises:
        DeviceError: no such device; the uncoarsened kernel does not run on it.
        VerificationError: the uncoarsened kernel's results are wrong.
        InvalidInputError: the kernel or its inputs can't be used; the store failed.
    """
    summary = sweep(plan, store, observer)
    if summary.problem:
        raise _problem(summary.rows)(f"{summary.benchmark}: the kernel as it is: {summary.problem}")
    factors = tuple(_measured(factor, summary.rows) for factor in plan.space.factors)
    return MeasuredFactors(factors, summary.rows, summary.measured)


def _measured(factor: int, rows: Sequence[Measurement]) -> MeasuredFactor:
    if factor == 1:
        return MeasuredFactor(1, _UNCOARSENED)
    own = [row for row in rows if row.candidate.factor == factor]
    compared = next(row for row in own if row.role is Role.COMPARISON)
    confirmed = [row for row in own if row.role is Role.CONFIRMATION] or [compared]
    processes = sum(row.role is Role.CONFIRMATION for row in confirmed)
    failed = next((row for row in confirmed if row.invalidity is not Invalidity.CORRECT), None)
    if failed is not None:
        return MeasuredFactor(factor, None, failed.invalidity, failed.reason, processes)
    gains = [gain for gain in map(speedup_of, confirmed) if gain]
    return MeasuredFactor(factor, across_processes(gains) if gains else None, processes=processes)


def _problem(rows: Sequence[Measurement]) -> type[CoarsenError]:
    """What kind of error it is that the uncoarsened kernel does not run correctly."""
    endings = {row.invalidity for row in rows}
    if Invalidity.CORRECTNESS in endings:
        return VerificationError
    return DeviceError if endings & {Invalidity.RUNTIME, Invalidity.TIMEOUT} else InvalidInputError
