"""Tuning of one launch: a search over its variants, verified and measured apart, the best of it timed again.

    description ─▶ compile in processes that may die ─▶ verify, time against the launch as it is ─▶ search
                                                        the best, in new processes               ─▶ Tuned

Nothing runs in the process of the caller: a variant that crashes the device's compiler, hangs, or writes where it
should not does so in a process of its own.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
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
from coarsen.opencl_bench.tuning.launch_prior import launch_prior
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
_LEAST_COMPILE_SECONDS = 5.0
_GRACE_SECONDS = 5.0
_HUNG_SHARE = 0.25
# By the seconds of a run, at least: the most runs of a variant, the fewest, and those before them.
_RUNS = ((0.1, 2, 2, 0), (0.02, 4, 2, 0), (0.0, 9, 3, 1))
_MOST_REPETITIONS = 40
_LEAST_REPETITIONS = 5
# A larger space is not counted: that takes longer than it is worth.
_COUNTED = 100_000
# Processes that confirm are started at once where their copies of the buffers are no larger than this.
_SMALL_BYTES = 64 << 20


def _search_method(seconds: float, run_seconds: float = 0.0) -> Method:
    """Return how variants are timed in a search: few runs tell which is worth more of them.

    Args:
        seconds: that all may take.
        run_seconds: of a run of the launch as it is, as far as that is known.
    """
    most, least, warm_up = next(runs for longer, *runs in _RUNS if run_seconds >= longer)
    return Method(
        repetitions=most,
        minimum_repetitions=least,
        warm_up=warm_up,
        interval_width=0.05,
        timeout_multiple=3,
        grace_seconds=min(_GRACE_SECONDS, _HUNG_SHARE * seconds),
        compile_seconds=min(_COMPILE_SECONDS, max(_LEAST_COMPILE_SECONDS, _HUNG_SHARE * seconds)),
    )


@dataclass(frozen=True, slots=True)
class LaunchToTune:
    """A launch that a description stands for.

    Attributes:
        description: a name of the suite, or the path of a TOML file.
        preset: names the sizes.
        device: where it runs.
        transforms: of its coarsened variants, wide accesses and the kind of device apart.
        byte_count: of its buffers; None where that isn't known.
    """

    description: str
    preset: str
    device: DeviceDescription
    transforms: Transforms
    byte_count: int | None = None


def tune_launch(launch: LaunchToTune, space: Space, settings: Tune, deadline: Deadline) -> Tuned:
    """Find the fastest variant of a launch.

    Args:
        launch: what is launched, and where.
        space: what to choose from; its first local size is the launch's own, and macros have their first values.
        settings: the seed, and how many trials at most.
        deadline: when it has to be over.

    Raises:
        DeviceError: the device can't be opened a second time; the launch as it is does not run there; the time was
            over before anything was found out.
        VerificationError: it does not give the same results twice.
        InvalidInputError: the kernel doesn't compile, the description can't be used.
        RefusalError: the kernel can't be coarsened at all.
    """
    benchmark = find_benchmark(launch.description)
    rows = MemoryRows()
    with _machinery(launch, deadline) as machinery:
        context = machinery.context(rows, benchmark)
        searched = _search(machinery, benchmark, space, context, settings, deadline.earlier(_SEARCH_SHARE))
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
    """The processes that a tuning works with.

    A process ends with the thread that started it, so these are started in threads that live as long.
    """

    def __init__(
        self, launch: LaunchToTune, pool: CompilePool, variables: Mapping[str, str], deadline: Deadline
    ) -> None:
        self.launch = launch
        self._variables = variables
        self._machine = machine_to_json(launch.device)
        self._deadline = deadline
        self._processes: list[MeasuringProcess] = []
        self._method = _search_method(deadline.seconds)
        self.threads = ThreadPoolExecutor(PROCESSES + 2, thread_name_prefix="tune")
        self.compiler = Compiler(
            launch.description, "opencl_c", self._machine, self._method, pool, time_left=lambda: deadline.left
        )

    def context(self, rows: MemoryRows, benchmark: Benchmark) -> SweepContext:
        """Return what the search measures with."""
        launch = self.launch
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
        launch = self.launch
        made = MeasuringProcess(
            launch.description,
            launch.preset,
            0,
            self._machine,
            method,
            time_left=lambda: self._deadline.left,
            variables=self._variables,
        )
        self._processes.append(made)
        return made

    def opened(self, process: MeasuringProcess) -> Future[None]:
        """Begin to open a process; nothing may be asked of it before that is done."""
        return self.threads.submit(process.open)

    def close(self) -> None:
        """End all processes."""
        self.threads.shutdown(wait=True, cancel_futures=True)
        for process in self._processes:
            process.close()


@contextmanager
def _machinery(launch: LaunchToTune, deadline: Deadline) -> Iterator[_Machinery]:
    # PoCL keeps what it compiles for ever: variants that lost are not worth it.
    with tempfile.TemporaryDirectory(prefix="coarsen-", ignore_cleanup_errors=True) as folder:
        variables = {"POCL_CACHE_DIR": folder}
        with CompilePool(variables=variables) as pool:
            machinery = _Machinery(launch, pool, variables, deadline)
            try:
                yield machinery
            finally:
                machinery.close()


def _search(
    machinery: _Machinery,
    benchmark: Benchmark,
    space: Space,
    context: SweepContext,
    settings: Tune,
    deadline: Deadline,
) -> _Searched:
    launch = machinery.launch
    kind = device_kind_of(launch.device.device_types)
    variants = variant_space(benchmark, launch.preset, space, limits_of(launch.device), kind)
    searchable = listed(VariantSearchSpace(variants))
    local_sizes = space.local_sizes or (benchmark.preset(launch.preset).local_size,)
    macros = benchmark.own_definitions
    own = Variant(local_sizes[0], definitions=macros)
    expected = launch_prior(benchmark, launch.device, own.local_size)
    forest = machinery.threads.submit(
        Forest, searchable, TREES, lambda choice: expected(searchable.variant(choice))
    )
    measurer = _measurer_of(machinery, context, own, deadline)
    transforms = replace(launch.transforms, wide_accesses=settings.wide_accesses, device_kind=kind)
    starts = [
        replace(start, definitions=macros)
        for start in starting_points(
            local_sizes,
            benchmark.dimensions,
            space.levels,
            space.strides,
            transforms,
            lambda variant: variants.violation(replace(variant, definitions=macros)) is None,
        )
    ]
    # Of uncoarsened launches nothing is expected. They come first: what is claimed of a choice is over them, too.
    starts.sort(key=lambda start: (start != own, start.is_coarsened, expected(start)))
    evaluator = LiveEvaluator(measurer, own, searchable)
    search = LaunchSearch(
        evaluator, forest.result(), evaluator.prepare, lambda: deadline.is_over, settings.seed, settings.trials
    )
    ending = search.run(map(searchable.choice_of, starts))
    if ending == TIME_OVER and evaluator.tried <= 1:
        # That nothing is faster would be no finding.
        raise DeviceError(_too_short(deadline, "before any variant was tried"))
    failed = sum(trial.time is None for trial in evaluator.trace)
    valid = count_valid(searchable, _COUNTED)
    return _Searched(own, evaluator.tried, failed, evaluator.tried / valid if valid else None, ending)


def _measurer_of(machinery: _Machinery, context: SweepContext, own: Variant, deadline: Deadline) -> RowMeasurer:
    """Time the launch as it is; return what times variants of a launch that takes so long.

    Raises VerificationError, InvalidInputError or DeviceError where it can't be the measure of others.
    """
    opened = machinery.opened(context.process)
    # Meanwhile it is compiled.
    context.codes.ahead(own)
    opened.result()
    row = RowMeasurer(context).compared(own, own)
    if row.invalidity is Invalidity.CORRECTNESS:
        raise VerificationError(f"the kernel as it is does not give the same results twice: {row.reason}")
    if row.invalidity is Invalidity.COMPILE:
        raise InvalidInputError(f"the kernel as it is: {row.reason}")
    if row.invalidity is not Invalidity.CORRECT:
        raise DeviceError(f"the kernel as it is: {row.reason}")
    method = _search_method(deadline.seconds, median(row.nanoseconds) / 1e9)
    context.process.use(method)
    return RowMeasurer(replace(context, method=method))


def _decided(
    machinery: _Machinery, context: SweepContext, rows: Sequence[Measurement], own: Variant, deadline: Deadline
) -> Decision:
    variants = finalists(rows, own)
    if not variants:
        return decide({}, own)
    context.process.close()
    seconds = max(median(row.baseline_nanoseconds) for row in rows if row.baseline_nanoseconds) / 1e9
    method = _confirming_method(seconds, len(variants), deadline)
    processes = [machinery.process(method) for _ in range(PROCESSES)]
    size = machinery.launch.byte_count
    if size is not None and size <= _SMALL_BYTES:
        # All of them at once, before any measures: starting takes longer than timing. What went wrong shows when
        # it is measured.
        wait([machinery.opened(process) for process in processes])
    measurers = [RowMeasurer(replace(context, process=process, method=method)) for process in processes]
    confirmed = confirm(variants, own, measurers, deadline)
    if confirmed is None:
        raise DeviceError(_too_short(deadline, "before the best variants were timed again"))
    return decide(confirmed, own)


def _too_short(deadline: Deadline, when: str) -> str:
    return f"the time was over {when}: give it more than {deadline.seconds:.3g} s"


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
        _search_method(deadline.seconds, seconds),
        repetitions=repetitions,
        minimum_repetitions=min(_LEAST_REPETITIONS, repetitions),
        interval_width=0.01,
    )
