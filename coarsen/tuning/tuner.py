"""Tuning of one launch: a search over its variants, verified and measured apart, the best of it timed again.

    benchmark ─▶ space ─▶ propose ─▶ compile, verify, time against the fastest so far ─▶ propose …
                  the best, timed again in new processes ─▶ decide ─▶ Tuned

Nothing runs in the process of the caller: a variant that crashes the device's compiler, hangs, or writes where it
should not does so in a process of its own.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import wait
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache, partial
from itertools import islice, product
from pathlib import Path

from coarsen.analysis.legality import groups_matter
from coarsen.devices.discovery import DeviceDescription
from coarsen.errors import DeviceError, InvalidInputError, VerificationError
from coarsen.tuning.captured_tuning import alone_on, check_python
from coarsen.tuning.engine.conversion import laid_out_choice
from coarsen.tuning.engine.finalists import PROCESSES, Confirmed, confirm, confirm_again, decide, finalists
from coarsen.tuning.engine.live_evaluator import RacingEvaluator
from coarsen.tuning.engine.plan import Space, limits_of, variant_space
from coarsen.tuning.engine.row_measurer import RowMeasurer, SweepContext
from coarsen.tuning.launch_prior import launch_prior
from coarsen.tuning.launch_search import LaunchModel, LaunchSearcher
from coarsen.tuning.launch_space import (
    laid_out_starts,
    lowered_own,
    space_of_launch,
    starting_points,
    tiled_starts,
    with_distinct,
    with_long_indices,
    with_tiles,
    without_refused,
)
from coarsen.tuning.measure.speedup import median
from coarsen.tuning.measure.variant_launch import needs_guard, undivided
from coarsen.tuning.progress import Deadline, TimeOverError, TuningProgress
from coarsen.tuning.records.measurement import Invalidity, Measurement, Role
from coarsen.tuning.search.evaluator import TIME_OVER, Budget
from coarsen.tuning.search.spaces import VariantSearchSpace, count_valid
from coarsen.tuning.settings import Tune
from coarsen.tuning.tuned import Tuned
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
from coarsen.variant.transforms import DeviceKind, Transforms
from coarsen.variant.variant import Definitions, Variant

# A larger space is neither counted nor listed: that takes longer than it is worth.
_MOST_COUNTED = 20_000
# Processes that confirm are started at once where their copies of the buffers are no larger than this.
_SMALL_BYTES = 64 << 20
# And where there is time for as many starts; with less, one process alone is started first.
_OPENINGS = 5
# Variants with tiles that are tried early: on GPUs they are often the fastest by far.
_TILED_STARTS = {DeviceKind.GPU: 3}
_OTHER_TILED_STARTS = 1
_BEFORE_MEASURED = "before the launch as it is was measured"


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
    """Find the fastest variant of a kernel of the suite, or of one that a file describes.

    Args:
        name: what a plan calls it: a name of the suite, or the path of a TOML file.
        benchmark: what that is; its macros have their first values.
        preset: names the sizes.
        device: where it runs.
        transforms: those that may be used, wide accesses apart.
        groups_matter: whether it matters to the kernel how its work-items are grouped.
        settings: how to tune.
        arrays: how arrays may lie; of what is found with them, `Tuned.laid_out` is the best.

    Raises:
        CoarsenError: as `tune_benchmark` does.
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
        DeviceError: the device can't be opened a second time.
        TimeOverError: the time was over before anything was found out.
        VerificationError: the launch as it is does not run there, or does not give the same results twice.
        InvalidInputError: no such preset; the local size is left open, which matters to the kernel; the kernel
            doesn't compile, the launch can't be used.
        RefusalError: the kernel can't be coarsened at all.
    """
    space = replace(space_of_launch(launch, groups_matter, settings), arrays=arrays)
    with tuning_processes(launch, deadline) as processes:
        return Tuning(processes, space, settings, deadline).run(first)


class Tuning:
    """The tuning of one launch: its space, what is measured, and what that leaves time for.

    Args:
        processes: those that it works with.
        space: what to choose from; its first local size is the launch's own.
        settings: how to tune.
        deadline: when it has to be over.

    Attributes:
        space: the variants that may run.
        own: the launch as it is.
        context: what measures.
    """

    def __init__(self, processes: TuningProcesses, space: Space, settings: Tune, deadline: Deadline) -> None:
        launch = processes.launch
        self._processes = processes
        self._launch = launch
        self._settings = settings
        self._deadline = deadline
        self._rows = MemoryRows()
        self.context = processes.context(self._rows)
        self._kernel = lowered_own(launch.benchmark, launch.device.macros)
        is_tied = launch.benchmark.local_size_of is not None
        is_free = settings.local_sizes and self._kernel is not None and not groups_matter(self._kernel)
        sizes = space.local_sizes or (launch.benchmark.preset(launch.preset).local_size,)
        # The local size of variants with tiles, where it can't be another.
        self._fixed = None if is_free and not is_tied else sizes[0]
        self._plan = self._narrowed(space)
        self.space = self._searchable()
        self.own = Variant(self._local_sizes[0], definitions=launch.benchmark.own_definitions)

    def run(self, first: Variant | None) -> Tuned:
        """Measure the launch as it is, search, time the best again; raises as `tune_benchmark` does."""
        with _in_time(self._deadline, _BEFORE_MEASURED):
            own_row, opening_seconds = measured_own(self._processes, self.context, self.own, self._deadline)
        with _in_time(self._deadline, "before the search had ended"):
            evaluator, ending = self._searched(first, own_row, opening_seconds)
        self._tell(evaluator, None, is_confirming=True)
        with _in_time(self._deadline, "before the best variants were timed again"):
            confirmed = self._confirmed(evaluator.gains, median(own_row.nanoseconds) / 1e9, opening_seconds)
        return self._result(evaluator, ending, confirmed)

    @property
    def _local_sizes(self) -> tuple[LocalSize, ...]:
        return self._plan.local_sizes or (self._launch.benchmark.preset(self._launch.preset).local_size,)

    def _narrowed(self, space: Space) -> Space:
        """The space without what is refused, and with what may change the kernel's code for the better."""
        launch, kernel = self._launch, self._kernel
        if kernel is None or not launch.benchmark.dimensions:
            return space
        space = without_refused(space, kernel, launch.benchmark.dimensions)
        space = with_long_indices(space, kernel, launch.transforms.device_kind)
        if not self._settings.distinct:
            return space
        if self._settings.tiles:
            space = with_tiles(space, launch.benchmark, launch.preset, kernel, self._fixed)
        return with_distinct(space, launch.benchmark, launch.preset, kernel)

    def _searchable(self) -> VariantSearchSpace:
        launch, benchmark = self._launch, self._launch.benchmark
        # That of the program, whose context may have devices of other kinds, too: what is measured runs there.
        kind = launch.transforms.device_kind
        variants = variant_space(benchmark, launch.preset, self._plan, limits_of(launch.device), kind)
        if benchmark.make_launches is not None:
            launches = lru_cache(maxsize=None)(partial(benchmark.launches, launch.preset))
            variants = replace(
                variants, constraints=(*variants.constraints, partial(_unsuited, benchmark, launches))
            )
        return VariantSearchSpace(variants, _MOST_COUNTED)

    def _searched(
        self, first: Variant | None, own_row: Measurement, opening_seconds: float
    ) -> tuple[RacingEvaluator, str]:
        """Search; return what was tried, and why no more was."""
        seconds, processes = self._deadline.seconds, self._processes
        method = search_method(seconds, median(own_row.nanoseconds) / 1e9)
        self.context.process.use(method)
        processes.compiler.use(compiling_method(method, seconds, own_row.compile_seconds))
        ending_time = self._deadline.earlier(confirming_seconds(seconds, opening_seconds, own_row.measure_seconds))
        valid = count_valid(self.space, _MOST_COUNTED)
        measurer = RowMeasurer(replace(self.context, method=method))
        evaluator = RacingEvaluator(
            measurer, self.own, self.space, lambda: ending_time.left, lambda tried: self._tell(tried, valid)
        )
        budget = Budget(trials=self._settings.trials, is_over=lambda: ending_time.is_over)
        ending = self.searcher(first).search(evaluator, budget, self._settings.seed).ending
        if ending == TIME_OVER and evaluator.tried <= 1:
            # That nothing is faster would be no finding.
            raise _too_short(self._deadline, "before any variant was tried")
        return evaluator, ending

    def searcher(self, first: Variant | None = None) -> LaunchSearcher:
        """Return what searches the space, from a variant if there is one."""
        expected = self._expected()
        starts = tuple(map(self.space.choice_of, self._starts(expected, first)))
        return LaunchSearcher(LaunchModel(self.space.variant, self.own.local_size, expected), starts)

    def _expected(self) -> Callable[[Variant], float]:
        launch, own = self._launch, self.own.local_size
        prior = launch_prior(launch.benchmark, launch.preset, launch.device, own, kernel=self._kernel)
        return prior or (lambda _: 0.0)

    def _starts(self, expected: Callable[[Variant], float], first: Variant | None) -> Iterable[Variant]:
        """The variants to begin with: the launch as it is, what is uncoarsened, what is expected to be fast."""
        own, plan, space = self.own, self._plan, self.space
        transforms = replace(
            self._launch.transforms,
            wide_accesses=self._settings.wide_accesses,
            distinct=True in plan.transforms.distinct,
            long_indices=True in plan.transforms.long_indices,
        )

        def is_in(variant: Variant) -> bool:
            return space.has(replace(variant, definitions=own.definitions))

        dimensions = self._launch.benchmark.dimensions
        found = starting_points(self._local_sizes, dimensions, plan.levels, plan.strides, transforms, is_in)
        starts = [replace(start, definitions=own.definitions) for start in found]
        # What is uncoarsened is tried first: a gain has to be one over the best of it.
        starts.sort(key=lambda start: (start != own, not start.is_coarsened, expected(start)))
        laid_out = [each for each in laid_out_starts(starts, plan.arrays or ()) if space.has(each)]
        starts[1:1] = filter(space.has, self._starts_of_macros())
        long = Transforms(device_kind=transforms.device_kind, long_indices=True)
        starts[1:1] = filter(space.has, [replace(own, transforms=long)])
        # One of these comes early: a short search is to try a layout, too.
        starts = [*starts[:1], *laid_out[:1], *starts[1:], *laid_out[1:]]
        starts[2:2] = filter(is_in, self._tiled_starts(replace(transforms, wide_accesses=False)))
        if first is not None:
            macros = first.definitions or own.definitions
            first = replace(first, local_size=first.local_size or own.local_size, definitions=macros)
            starts[1:1] = [first] if space.has(first) else []
        return dict.fromkeys(starts)

    def _starts_of_macros(self) -> Iterator[Variant]:
        """Uncoarsened variants, with the values of macros from which the local size follows."""
        local_size_of, values = self._launch.benchmark.local_size_of, dict(self._plan.definitions)
        if local_size_of is None:
            return
        for chosen in product(*values.values()):
            definitions = tuple(zip(values, chosen, strict=True))
            yield Variant(local_size_of(definitions), definitions=definitions)

    def _tiled_starts(self, transforms: Transforms) -> Iterator[Variant]:
        """Some variants with tiles."""
        launch, own = self._launch, self.own
        launches = launch.benchmark.own_launches(launch.preset, own.local_size)
        guards = True in self._plan.transforms.any_size
        found = tiled_starts(launches[0].global_size, transforms, self._fixed, guards=guards)
        count = _TILED_STARTS.get(launch.transforms.device_kind, _OTHER_TILED_STARTS)
        return (replace(each, definitions=own.definitions) for each in islice(found, count))

    def _tell(self, evaluator: RacingEvaluator, valid: int | None, is_confirming: bool = False) -> None:
        """Tell whoever wants to know how far the tuning has come."""
        progress, gains = self._settings.progress, evaluator.gains
        if progress is None:
            return
        known = [number for number in (valid, self._settings.trials) if number]
        best = max(gains, key=lambda variant: gains[variant])
        progress(
            TuningProgress(
                self._launch.benchmark.kernel,
                evaluator.tried,
                min(known, default=None),
                best if best in finalists(gains) else None,
                gains[best],
                self._deadline.left,
                is_confirming,
            )
        )

    def _confirmed(self, gains: Mapping[Variant, float], own_seconds: float, opening_seconds: float) -> Confirmed:
        """The rows of the best variants in new processes; none where nothing looks faster."""
        processes, deadline, variants = self._processes, self._deadline, finalists(gains)
        if not variants:
            return {}
        processes.stop_compiling()
        self.context.process.close()
        method = confirming_method(own_seconds, len(variants), deadline)
        size = self._launch.byte_count
        is_small = size is not None and size <= _SMALL_BYTES

        def measurers() -> list[RowMeasurer]:
            fresh = [processes.process(method) for _ in range(PROCESSES)]
            if is_small and deadline.left > _OPENINGS * opening_seconds:
                # All of them at once, before any measures: starting takes longer than timing. What went wrong
                # shows when it is measured.
                wait([processes.opened(process) for process in fresh])
            return [RowMeasurer(replace(self.context, process=process, method=method)) for process in fresh]

        confirmed = confirm(variants, self.own, measurers(), deadline)
        if confirmed is None:
            raise _too_short(deadline, "before the best variants were timed again")
        return confirm_again(confirmed, self.own, measurers, deadline)

    def _result(self, evaluator: RacingEvaluator, ending: str, confirmed: Confirmed) -> Tuned:
        launch, benchmark, own = self._launch, self._launch.benchmark, self.own
        decision = decide({variant: rows for variant, rows in confirmed.items() if not variant.arrays}, own)
        valid = count_valid(self.space, _MOST_COUNTED)
        tried = [self.space.variant(trial.choice) for trial in evaluator.trace]
        return Tuned(
            kernel=benchmark.kernel,
            device=str(launch.device),
            global_size=benchmark.own_launches(launch.preset, own.local_size)[0].global_size,
            local_size=own.local_size or None,
            decision=decision,
            trials=evaluator.tried,
            failed=sum(trial.time is None for trial in evaluator.trace),
            share=evaluator.tried / valid if valid else None,
            seconds=self._deadline.spent,
            ending=ending,
            wrong=tuple(
                f"{row.candidate}: {row.reason}"
                for row in self._rows.rows
                if row.invalidity is Invalidity.CORRECTNESS and row.role is Role.COMPARISON
            ),
            laid_out=laid_out_choice(confirmed, own, decision, benchmark),
            laid_out_trials=sum(bool(variant.arrays) for variant in tried),
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


def measured_own(
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


def launches_alike(benchmark: Benchmark, preset: str) -> bool:
    """Return True if all launches of a preset that are of the kernel that is coarsened have the same sizes."""
    launches = benchmark.own_launches(preset, benchmark.preset(preset).local_size)
    return len({(launch.kernel, launch.global_size, launch.local_size) for launch in launches}) == 1
