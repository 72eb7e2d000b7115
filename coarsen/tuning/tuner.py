"""Tuning of one launch: a search over its variants, verified and measured apart, the best of it timed again.

    benchmark ─▶ compile in processes that may die ─▶ verify, time against the launch as it is ─▶ search
                                                      the best, in new processes               ─▶ Tuned

Nothing runs in the process of the caller: a variant that crashes the device's compiler, hangs, or writes where it
should not does so in a process of its own.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import wait
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path

from coarsen.devices.discovery import DeviceDescription
from coarsen.errors import DeviceError, InvalidInputError, VerificationError
from coarsen.ir.kernel import Kernel
from coarsen.tuning.captured_tuning import alone_on, check_python
from coarsen.tuning.engine.distinct_choice import lowered_own, with_distinct
from coarsen.tuning.engine.finalists import confirm, confirm_again, decide, finalists
from coarsen.tuning.engine.live_evaluator import RacingEvaluator
from coarsen.tuning.engine.plan import Space, limits_of, variant_space
from coarsen.tuning.engine.row_measurer import RowMeasurer, SweepContext
from coarsen.tuning.engine.rows import PROCESSES
from coarsen.tuning.launch_prior import launch_prior
from coarsen.tuning.launch_search import LaunchModel, LaunchSearcher
from coarsen.tuning.launch_space import (
    laid_out_starts,
    launch_space,
    local_sizes_beside,
    may_need_guard,
    starting_points,
    without_refused,
)
from coarsen.tuning.layout_choices import laid_out_choice
from coarsen.tuning.measure.speedup import median
from coarsen.tuning.measure.variant_launch import needs_guard, undivided
from coarsen.tuning.records.measurement import Invalidity, Measurement, Role
from coarsen.tuning.search.evaluator import TIME_OVER, Budget
from coarsen.tuning.search.spaces import VariantSearchSpace, count_valid
from coarsen.tuning.settings import Deadline, TimeOverError, Tune, TuningProgress
from coarsen.tuning.tuned import Decision, LaidOutChoice, Tuned
from coarsen.tuning.tuning_processes import (
    LaunchToTune,
    MemoryRows,
    TuningProcesses,
    compiling_method,
    confirming_method,
    confirming_seconds,
    search_method,
    tuning_processes,
)
from coarsen.tuning.workload.benchmark import Benchmark, Launch, LocalSize
from coarsen.variant.space import ArrayChoices
from coarsen.variant.transforms import Transforms
from coarsen.variant.variant import Definitions, Variant

# A larger space is not counted: that takes longer than it is worth.
_COUNTED = 100_000
# Processes that confirm are started at once where their copies of the buffers are no larger than this.
_SMALL_BYTES = 64 << 20
# And where there is time for as many starts; with less, one process alone is started first.
_OPENINGS = 5
_BEFORE_MEASURED = "before the launch as it is was measured"


def tune_launch(
    launch: LaunchToTune, space: Space, settings: Tune, deadline: Deadline, first: Variant | None = None
) -> Tuned:
    """Find the fastest variant of a launch.

    Args:
        launch: what is launched, and where.
        space: what to choose from; its first local size is the launch's own, and macros have their first values.
        settings: the seed, how many trials at most, and whether arguments may be taken as distinct.
        deadline: when it has to be over.
        first: a variant to begin with, where the space has it; an empty local size is the launch's own.

    Raises:
        DeviceError: the device can't be opened a second time.
        TimeOverError: the time was over before anything was found out.
        VerificationError: the launch as it is does not run there, or does not give the same results twice.
        InvalidInputError: the kernel doesn't compile, the launch can't be used.
        RefusalError: the kernel can't be coarsened at all.
    """
    benchmark = launch.benchmark
    rows = MemoryRows()
    with tuning_processes(launch, deadline) as processes:
        kernel = lowered_own(benchmark, launch.device.macros)
        if kernel is not None:
            space = without_refused(space, kernel, benchmark.dimensions)
            space = with_distinct(space, benchmark, launch.preset, kernel) if settings.distinct else space
        context = processes.context(rows)
        with _in_time(deadline, "before the search had ended"):
            searched = _search(processes, kernel, space, context, settings, deadline, first)
        _tell(settings, benchmark.kernel, searched.trials, None, searched.gains, deadline, is_confirming=True)
        with _in_time(deadline, "before the best variants were timed again"):
            confirmed = _confirmed(processes, context, searched, deadline)
    decision = decide({variant: each for variant, each in confirmed.items() if not variant.arrays}, searched.own)
    own = searched.own.local_size
    return Tuned(
        kernel=benchmark.kernel,
        device=str(launch.device),
        global_size=benchmark.real_launches(launch.preset, own)[0].global_size,
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
        laid_out=_laid_out(confirmed, searched.own, decision, benchmark),
        laid_out_trials=searched.laid_out_trials,
    )


def _laid_out(
    confirmed: Mapping[Variant, Sequence[Measurement]], own: Variant, plain: Decision, benchmark: Benchmark
) -> LaidOutChoice | None:
    """The best of the variants whose arrays lie otherwise; None where none was timed again, or is faster."""
    if not any(variant.arrays for variant in confirmed):
        return None
    # Imported late: it converts arrays, for which it loads the whole compiler.

    return laid_out_choice(confirmed, own, plain, benchmark)


@dataclass(frozen=True, slots=True)
class _Searched:
    own: Variant
    own_seconds: float  # of a run
    opening_seconds: float  # of a process
    gains: Mapping[Variant, float]
    trials: int
    failed: int
    share: float | None
    ending: str
    laid_out_trials: int


def _search(
    processes: TuningProcesses,
    kernel: Kernel | None,
    space: Space,
    context: SweepContext,
    settings: Tune,
    deadline: Deadline,
    first: Variant | None,
) -> _Searched:
    launch, benchmark = processes.launch, processes.launch.benchmark
    # That of the program, whose context may have devices of other kinds, too: what is measured is what runs there.
    kind = launch.transforms.device_kind
    variants = variant_space(benchmark, launch.preset, space, limits_of(launch.device), kind)
    launches = lru_cache(maxsize=None)(partial(benchmark.launches, launch.preset))
    if benchmark.make_launches is not None:
        variants = replace(variants, constraints=(*variants.constraints, partial(_unsuited, benchmark, launches)))
    searchable = VariantSearchSpace(variants)
    local_sizes = space.local_sizes or (benchmark.preset(launch.preset).local_size,)
    macros = benchmark.own_definitions
    own = Variant(local_sizes[0], definitions=macros)
    expected = launch_prior(benchmark, launch.preset, launch.device, own.local_size, kernel=kernel)
    with _in_time(deadline, _BEFORE_MEASURED):
        own_row, opening_seconds = _measured_own(processes, context, own, deadline)
    method = search_method(deadline.seconds, median(own_row.nanoseconds) / 1e9)
    context.process.use(method)
    processes.compiler.use(compiling_method(method, deadline.seconds, own_row.compile_seconds))
    confirming = confirming_seconds(deadline.seconds, opening_seconds, own_row.measure_seconds)
    ending_time = deadline.earlier(confirming)
    measurer = RowMeasurer(replace(context, method=method))
    transforms = replace(
        launch.transforms,
        wide_accesses=settings.wide_accesses,
        distinct=True in space.transforms.distinct,
    )
    starts = [
        replace(start, definitions=macros)
        for start in starting_points(
            local_sizes,
            benchmark.dimensions,
            space.levels,
            space.strides,
            transforms,
            lambda variant: searchable.has(replace(variant, definitions=macros)),
        )
    ]
    # What is uncoarsened is tried first: a gain has to be one over the best of it.
    starts.sort(key=lambda start: (start != own, not start.is_coarsened, expected(start)))
    laid_out = [each for each in laid_out_starts(starts, space.arrays or ()) if searchable.has(each)]
    # One of these comes early: a short search is to try a layout, too.
    starts = [*starts[:1], *laid_out[:1], *starts[1:], *laid_out[1:]]
    if first is not None:
        first = replace(first, local_size=first.local_size or own.local_size, definitions=macros)
        starts[1:1] = [first] if searchable.has(first) else []
    valid = count_valid(searchable, _COUNTED)

    def told(evaluator: RacingEvaluator) -> None:
        _tell(settings, benchmark.kernel, evaluator.tried, valid, evaluator.gains, deadline)

    evaluator = RacingEvaluator(measurer, own, searchable, lambda: ending_time.left, told)
    model = LaunchModel(searchable.variant, own.local_size, expected)
    searcher = LaunchSearcher(model, tuple(dict.fromkeys(map(searchable.choice_of, starts))))
    budget = Budget(trials=settings.trials, is_over=lambda: ending_time.is_over)
    ending = searcher.search(evaluator, budget, settings.seed).ending
    if ending == TIME_OVER and evaluator.tried <= 1:
        # That nothing is faster would be no finding.
        raise _too_short(deadline, "before any variant was tried")
    failed = sum(trial.time is None for trial in evaluator.trace)
    laid_out_trials = sum(bool(searchable.variant(trial.choice).arrays) for trial in evaluator.trace)
    return _Searched(
        own,
        median(own_row.nanoseconds) / 1e9,
        opening_seconds,
        evaluator.gains,
        evaluator.tried,
        failed,
        evaluator.tried / valid if valid else None,
        ending,
        laid_out_trials,
    )


def _unsuited(
    benchmark: Benchmark, launches: Callable[[LocalSize, Definitions], Sequence[Launch]], variant: Variant
) -> str | None:
    """Say of a variant that a launch's sizes don't divide, or why its guard has no use.

    `coarsen.Program` launches a variant without a guard where the sizes divide.
    """
    if not variant.is_coarsened:
        return None
    coarsened = [each for each in launches(variant.local_size, variant.definitions) if benchmark.coarsens(each)]
    if not variant.any_size:
        return next(filter(None, (undivided(each, variant.coarsenings) for each in coarsened)), None)
    is_needed = any(needs_guard(each, variant) for each in coarsened)
    return None if is_needed else "its sizes divide without a guard, or nothing would be merged"


def _tell(
    settings: Tune,
    kernel: str,
    tried: int,
    valid: int | None,
    gains: Mapping[Variant, float],
    deadline: Deadline,
    is_confirming: bool = False,
) -> None:
    """Tell whoever wants to know how far a tuning has come."""
    if settings.progress is None:
        return
    known = [number for number in (valid, settings.trials) if number]
    gain, best = max(((gain, variant) for variant, gain in gains.items()), key=lambda entry: entry[0])
    is_faster = best in finalists(gains)
    most = min(known, default=None)
    shown = best if is_faster else None
    settings.progress(TuningProgress(kernel, tried, most, shown, gain, deadline.left, is_confirming))


def _measured_own(
    processes: TuningProcesses, context: SweepContext, own: Variant, deadline: Deadline
) -> tuple[Measurement, float]:
    """Time the launch as it is; return its row, and the seconds that it took to open the process.

    Raises VerificationError, InvalidInputError or DeviceError where it can't be the measure of others;
    TimeOverError where it took too long for what all may take.
    """
    begun = time.monotonic()
    opened = processes.opened(context.process)
    # Meanwhile it is compiled.
    context.codes.ahead(own)
    opened.result()
    opening_seconds = time.monotonic() - begun
    row = RowMeasurer(context).compared(own, own)
    if row.invalidity is Invalidity.CORRECTNESS:
        raise VerificationError(f"the kernel as it is does not give the same results twice: {row.reason}")
    if row.invalidity is Invalidity.COMPILE:
        raise InvalidInputError(f"the kernel as it is: {row.reason}")
    if row.invalidity is Invalidity.TIMEOUT:
        # Its limits are shares of the seconds that all may take.
        if deadline.is_over:
            raise _too_short(deadline, _BEFORE_MEASURED)
        took = f"the launch as it is took too long ({row.reason})"
        raise TimeOverError(f"{took}: give it more than {deadline.seconds:.3g} s")
    if row.invalidity is not Invalidity.CORRECT:
        raise VerificationError(f"the kernel as it is, against which others are verified: {row.reason}")
    return row, opening_seconds


def _confirmed(
    processes: TuningProcesses,
    context: SweepContext,
    searched: _Searched,
    deadline: Deadline,
) -> Mapping[Variant, Sequence[Measurement]]:
    """The rows of the best variants in new processes; none where nothing looks faster."""
    own = searched.own
    variants = finalists(searched.gains)
    if not variants:
        return {}
    processes.stop_compiling()
    context.process.close()
    method = confirming_method(searched.own_seconds, len(variants), deadline)
    size = processes.launch.byte_count
    is_small = size is not None and size <= _SMALL_BYTES

    def measurers() -> list[RowMeasurer]:
        fresh = [processes.process(method) for _ in range(PROCESSES)]
        if is_small and deadline.left > _OPENINGS * searched.opening_seconds:
            # All of them at once, before any measures: starting takes longer than timing. What went wrong shows
            # when it is measured.
            wait([processes.opened(process) for process in fresh])
        return [RowMeasurer(replace(context, process=process, method=method)) for process in fresh]

    confirmed = confirm(variants, own, measurers(), deadline)
    if confirmed is None:
        raise _too_short(deadline, "before the best variants were timed again")
    return confirm_again(confirmed, own, measurers, deadline)


@contextmanager
def _in_time(deadline: Deadline, when: str) -> Iterator[None]:
    """Raise TimeOverError for what went wrong since no time was left: that no process answered, for one."""
    try:
        yield
    except (DeviceError, InvalidInputError) as error:
        if isinstance(error, TimeOverError) or not deadline.is_over:
            raise
        raise _too_short(deadline, when) from error


def _too_short(deadline: Deadline, when: str) -> TimeOverError:
    return TimeOverError(f"the time was over {when}: give it more than {deadline.seconds:.3g} s")


# Tuning of a benchmark at one of its presets: a kernel of the suite, or one that a file describes.


def tune_described(
    name: str | Path,
    benchmark: Benchmark,
    preset: str,
    device: DeviceDescription,
    transforms: Transforms,
    groups_matter: bool,
    settings: Tune,
    arrays: tuple[ArrayChoices, ...] = (),
) -> Tuned:
    """Find the fastest variant of a benchmark; its macros have their first values.

    Args:
        name: what a plan calls it: a name of the suite, or the path of a TOML file.
        benchmark: what that is.
        preset: names the sizes.
        device: where it runs.
        transforms: those that may be used, wide accesses apart.
        groups_matter: whether it matters to the kernel how its work-items are grouped.
        settings: how to tune.
        arrays: how arrays may lie; of what is found with them, `Tuned.laid_out` is the best.

    Raises:
        InvalidInputError: no such preset; the local size is left open, which matters to the kernel.
        CoarsenError: as `tune_launch` does.
    """
    check_python()
    launch = LaunchToTune(benchmark, str(name), str(name), preset, device, transforms)
    with alone_on(device, settings.seconds):
        return tune_benchmark(launch, groups_matter, settings, Deadline(settings.seconds), arrays)


def tune_benchmark(
    launch: LaunchToTune,
    groups_matter: bool,
    settings: Tune,
    deadline: Deadline,
    arrays: tuple[ArrayChoices, ...] = (),
    first: Variant | None = None,
) -> Tuned:
    """Find the fastest variant of a launch; its macros have their first values.

    Args:
        launch: what is launched, and where.
        groups_matter: whether it matters to the kernel how its work-items are grouped.
        settings: how to tune.
        deadline: when it has to be over.
        arrays: how arrays may lie; of what is found with them, `Tuned.laid_out` is the best.
        first: a variant to begin with, where the space has it; an empty local size is the launch's own.

    Raises:
        InvalidInputError: no such preset; the local size is left open, which matters to the kernel.
        CoarsenError: as `tune_launch` does.
    """
    benchmark, preset = launch.benchmark, launch.preset
    own = benchmark.preset(preset).local_size
    others = local_sizes_to_try(benchmark, preset, own, launch.device, groups_matter, settings)
    sizes = (each.global_size for each in benchmark.real_launches(preset, own))
    has_guarded = not groups_matter and may_need_guard(sizes)
    space = replace(
        launch_space(own, others, launch.transforms, settings, has_guarded=has_guarded),
        definitions=tuple((macro, values[:1]) for macro, values in sorted(benchmark.tunables.items())),
        arrays=arrays,
    )
    return tune_launch(launch, space, settings, deadline, first)


def launches_alike(benchmark: Benchmark, preset: str) -> bool:
    """Return True if all launches of a preset are of one kernel and have the same sizes."""
    launches = benchmark.real_launches(preset, benchmark.preset(preset).local_size)
    return len({_sizes(launch) for launch in launches}) == 1


def _sizes(launch: Launch) -> tuple[str, tuple[int, ...], LocalSize]:
    return launch.kernel, launch.global_size, launch.local_size


def local_sizes_to_try(
    benchmark: Benchmark,
    preset: str,
    own: LocalSize,
    device: DeviceDescription,
    groups_matter: bool,
    settings: Tune,
) -> tuple[LocalSize, ...]:
    """Return the local sizes that the benchmark names beside a launch's; if none, usual ones where any will do.

    Args:
        benchmark: what is launched.
        preset: names the sizes.
        own: the launch's local size; empty where it is left open.
        device: where it runs.
        groups_matter: whether it matters to the kernel how its work-items are grouped.
        settings: whether other local sizes are allowed.

    Raises:
        InvalidInputError: the local size is left open, which matters to the kernel.
    """
    if benchmark.local_size_of is not None:
        return ()
    named = tuple(size for size in benchmark.local_sizes_of(preset) if size and size != own)
    if named:
        return named if settings.local_sizes else ()
    launches = benchmark.real_launches(preset, own)
    if len(launches) > 1 and own:
        return ()
    return local_sizes_beside(launches[0].global_size, own, device, groups_matter, settings)
