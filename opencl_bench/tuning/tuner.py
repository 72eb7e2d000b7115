"""Tuning of one launch: a search over its variants, verified and measured apart, the best of it timed again.

    description ─▶ compile in processes that may die ─▶ verify, time against the launch as it is ─▶ search
                                                        the best, in new processes               ─▶ Tuned

Nothing runs in the process of the caller: a variant that crashes the device's compiler, hangs, or writes where it
should not does so in a process of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace

from coarsen.devices.discovery import DeviceDescription
from coarsen.errors import DeviceError, InvalidInputError, VerificationError
from coarsen.opencl_bench.measure.environment import environment_of
from coarsen.opencl_bench.measure.speedup import median
from coarsen.opencl_bench.records.measurement import Invalidity, Measurement, Method, Role
from coarsen.opencl_bench.search.forest import Forest
from coarsen.opencl_bench.search.spaces import count_valid
from coarsen.opencl_bench.search.variant_space import VariantSearchSpace, listed
from coarsen.opencl_bench.sweep.compiler import CompilePool, Compiler
from coarsen.opencl_bench.sweep.confirmation import PROCESSES
from coarsen.opencl_bench.sweep.engine import machine_to_json
from coarsen.opencl_bench.sweep.live_evaluator import LiveEvaluator
from coarsen.opencl_bench.sweep.measuring_process import MeasuringProcess
from coarsen.opencl_bench.sweep.plan import Space
from coarsen.opencl_bench.sweep.points import limits_of, variant_space
from coarsen.opencl_bench.sweep.row_measurer import RowMeasurer, SweepContext
from coarsen.opencl_bench.sweep.subjects import CompiledSubjects
from coarsen.opencl_bench.tuning.deadline import Deadline
from coarsen.opencl_bench.tuning.finalists import Decision, confirm, decide, finalists
from coarsen.opencl_bench.tuning.launch_search import TIME_OVER, TREES, LaunchSearch
from coarsen.opencl_bench.tuning.memory_rows import MemoryRows
from coarsen.opencl_bench.tuning.settings import Tune
from coarsen.opencl_bench.tuning.starting_points import starting_points
from coarsen.opencl_bench.tuning.tuned import Tuned
from coarsen.opencl_bench.workloads.benchmark import Benchmark, Launch, LocalSize
from coarsen.opencl_bench.workloads.lookup import find_benchmark
from coarsen.variant.transforms import Transforms, device_kind_of
from coarsen.variant.variant import Variant

# Of the time, what the search may take; the rest is for timing the best again.
_SEARCH_SHARE = 0.7
# A compilation and a run that hangs take at most so many seconds, and so much of the time.
_COMPILE_SECONDS = 15.0
_GRACE_SECONDS = 5.0
_HUNG_SHARE = 0.25
_MOST_REPETITIONS = 40
_LEAST_REPETITIONS = 5
# A larger space is not counted: that takes longer than it is worth.
_COUNTED = 100_000


def _search_method(seconds: float) -> Method:
    """Return how variants are timed in a search of so many seconds: few runs tell which is worth more of them."""
    return Method(
        repetitions=9,
        minimum_repetitions=3,
        interval_width=0.05,
        timeout_multiple=3,
        grace_seconds=min(_GRACE_SECONDS, _HUNG_SHARE * seconds),
        compile_seconds=min(_COMPILE_SECONDS, _HUNG_SHARE * seconds),
    )


@dataclass(frozen=True, slots=True)
class LaunchToTune:
    """A launch that a description stands for.

    Attributes:
        description: a name of the suite, or the path of a TOML file.
        preset: names the sizes.
        device: where it runs.
        transforms: of its coarsened variants, wide accesses and the kind of device apart.
    """

    description: str
    preset: str
    device: DeviceDescription
    transforms: Transforms


def tune_launch(launch: LaunchToTune, space: Space, settings: Tune, deadline: Deadline) -> Tuned:
    """Find the fastest variant of a launch.

    Args:
        launch: what is launched, and where.
        space: what to choose from; its first local size is the launch's own, and macros have their first values.
        settings: the seed, and how many trials at most.
        deadline: when it has to be over.

    Raises:
        DeviceError: the device can't be opened a second time; the launch as it is does not run there.
        VerificationError: it does not give the same results twice.
        InvalidInputError: the kernel doesn't compile, the description can't be used; the time is too short to try
            anything.
        RefusalError: the kernel can't be coarsened at all.
    """
    benchmark = find_benchmark(launch.description)
    rows = MemoryRows()
    with _machinery(launch, deadline) as machinery:
        context = machinery.context(rows, benchmark)
        searched = _search(launch, benchmark, space, context, settings, deadline.earlier(_SEARCH_SHARE))
        decision = _decided(machinery, context, rows.rows, searched.own, deadline)
    own = searched.own.local_size
    return Tuned(
        kernel=benchmark.kernel,
        device=str(launch.device),
        global_size=real_launches(benchmark, launch.preset, own)[0].global_size,
        local_size=own or None,
        decision=decision,
        trials=searched.trials,
        failed=searched.failed,
        share=searched.share,
        seconds=deadline.spent,
        ending=searched.ending,
        wrong=tuple(
            f"{row.candidate}: {row.reason}"
            for row in rows.rows
            if row.invalidity is Invalidity.CORRECTNESS and row.role is Role.COMPARISON
        ),
    )


def real_launches(benchmark: Benchmark, preset: str, local_size: LocalSize) -> tuple[Launch, ...]:
    """Return the launches of a preset with the sizes that they have there, though its inputs have to be made."""
    if benchmark.make_launches is not None:
        return benchmark.launches(preset, local_size)
    return benchmark.workload(preset, local_size=local_size).launches


@dataclass(frozen=True, slots=True)
class _Searched:
    own: Variant
    trials: int
    failed: int
    share: float | None
    ending: str


class _Machinery:
    """The processes that a tuning works with."""

    def __init__(self, launch: LaunchToTune, pool: CompilePool, deadline: Deadline) -> None:
        self._launch = launch
        self._machine = machine_to_json(launch.device)
        self._deadline = deadline
        self._processes: list[MeasuringProcess] = []
        self._method = _search_method(deadline.seconds)
        self.compiler = Compiler(launch.description, "opencl_c", self._machine, self._method, pool)

    def context(self, rows: MemoryRows, benchmark: Benchmark) -> SweepContext:
        """Return what the search measures with."""
        launch = self._launch
        return SweepContext(
            device=str(launch.device),
            environment=environment_of(launch.device, "opencl_c"),
            method=self._method,
            subjects=CompiledSubjects(benchmark, launch.preset, 0, self.compiler.ir_hash),
            codes=self.compiler,
            process=self.process(self._method),
            rows=rows,
            lock=nullcontext,
            compile_first="cpu" in launch.device.device_types,
        )

    def process(self, method: Method) -> MeasuringProcess:
        """Return a process of its own that measures."""
        launch = self._launch
        made = MeasuringProcess(
            launch.description, launch.preset, 0, self._machine, method, time_left=lambda: self._deadline.left
        )
        self._processes.append(made)
        return made

    def close(self) -> None:
        """End all processes."""
        for process in self._processes:
            process.close()


@contextmanager
def _machinery(launch: LaunchToTune, deadline: Deadline) -> Iterator[_Machinery]:
    with CompilePool() as pool:
        machinery = _Machinery(launch, pool, deadline)
        try:
            yield machinery
        finally:
            machinery.close()


def _search(
    launch: LaunchToTune,
    benchmark: Benchmark,
    space: Space,
    context: SweepContext,
    settings: Tune,
    deadline: Deadline,
) -> _Searched:
    kind = device_kind_of(launch.device.device_types)
    variants = variant_space(benchmark, launch.preset, space, limits_of(launch.device), kind)
    searchable = listed(VariantSearchSpace(variants))
    local_sizes = space.local_sizes or (benchmark.preset(launch.preset).local_size,)
    macros = benchmark.own_definitions
    own = Variant(local_sizes[0], definitions=macros)
    measurer = RowMeasurer(context)
    with ThreadPoolExecutor(2) as opening:
        # Meanwhile the other processes start, and compile the launch as it is.
        opening.submit(context.process.open)
        forest = opening.submit(Forest, searchable, TREES)
        _check(measurer.compared(own, own))
    transforms = replace(launch.transforms, wide_accesses=settings.wide_accesses, device_kind=kind)
    starts = starting_points(
        local_sizes,
        benchmark.dimensions,
        space.levels,
        space.strides,
        transforms,
        lambda variant: variants.violation(replace(variant, definitions=macros)) is None,
    )
    evaluator = LiveEvaluator(measurer, own, searchable)
    search = LaunchSearch(
        evaluator, forest.result(), evaluator.prepare, lambda: deadline.is_over, settings.seed, settings.trials
    )
    ending = search.run(searchable.choice_of(replace(start, definitions=macros)) for start in starts)
    if ending == TIME_OVER and evaluator.tried <= 1:
        # That nothing is faster would be no finding.
        raise InvalidInputError(
            f"the {deadline.seconds:g} s of the search were over before any variant was tried: give it more"
        )
    failed = sum(trial.time is None for trial in evaluator.trace)
    valid = count_valid(searchable, _COUNTED)
    return _Searched(own, evaluator.tried, failed, evaluator.tried / valid if valid else None, ending)


def _check(row: Measurement) -> None:
    """Raise an error where the launch as it is can't be the measure of others."""
    if row.invalidity is Invalidity.CORRECTNESS:
        raise VerificationError(f"the kernel as it is does not give the same results twice: {row.reason}")
    if row.invalidity is Invalidity.COMPILE:
        raise InvalidInputError(f"the kernel as it is: {row.reason}")
    if row.invalidity is not Invalidity.CORRECT:
        raise DeviceError(f"the kernel as it is: {row.reason}")


def _decided(
    machinery: _Machinery, context: SweepContext, rows: Sequence[Measurement], own: Variant, deadline: Deadline
) -> Decision:
    variants = finalists(rows, own)
    if not variants:
        return decide({}, own)
    context.process.start_afresh()
    seconds = max(median(row.baseline_nanoseconds) for row in rows if row.baseline_nanoseconds) / 1e9
    method = _confirming_method(seconds, len(variants), deadline)
    processes = [machinery.process(method) for _ in range(PROCESSES)]
    with ThreadPoolExecutor(len(processes)) as opening:
        # All of them at once, before any measures: starting takes longer than timing. Whoever measures first
        # finds what went wrong.
        for process in processes:
            opening.submit(process.open)
    measurers = [RowMeasurer(replace(context, process=process, method=method)) for process in processes]
    return decide(confirm(variants, own, measurers, deadline), own)


def _confirming_method(seconds: float, variants: int, deadline: Deadline) -> Method:
    """Return how finalists are timed: as often as half of the time that is left allows.

    Args:
        seconds: of a run of the launch as it is.
        variants: the number of finalists.
        deadline: when all has to be over.
    """
    runs = deadline.left / 2 / PROCESSES / variants / (2 * max(seconds, 1e-6))
    repetitions = min(_MOST_REPETITIONS, max(_LEAST_REPETITIONS, int(runs)))
    return replace(
        _search_method(deadline.seconds),
        repetitions=repetitions,
        minimum_repetitions=min(_LEAST_REPETITIONS, repetitions),
        interval_width=0.01,
    )
