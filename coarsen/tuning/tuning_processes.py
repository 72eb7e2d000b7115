"""The processes that the tuning of a launch works with: some compile, others measure, and all end with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace

from coarsen.devices.discovery import DeviceDescription
from coarsen.tuning.captured_tuning import tuning_folder
from coarsen.tuning.engine.finalists import PROCESSES
from coarsen.tuning.engine.plan import SweepPlan
from coarsen.tuning.engine.row_measurer import SweepContext, context_with
from coarsen.tuning.processes.compiler import CompilePool, Compiler
from coarsen.tuning.processes.measuring_process import MeasuringProcess, machine_to_json
from coarsen.tuning.progress import Deadline
from coarsen.tuning.records.measurement import Measurement, Method
from coarsen.tuning.workload.benchmark import Benchmark, LocalSize
from coarsen.variant.transforms import Transforms


@dataclass(frozen=True, slots=True)
class LaunchToTune:
    """A launch and what is told of it.

    Attributes:
        benchmark: makes it.
        reference: stands for the benchmark in other processes (`measure_service.benchmark_of`).
        called: the benchmark in messages.
        preset: names the sizes.
        device: where it runs.
        transforms: of its coarsened variants, wide accesses and the kind of device apart.
        byte_count: of its buffers; None where that isn't known.
        shared_local_size: its own, where its inputs and results are the same at every local size that it is tried
            at; None where that isn't known.
    """

    benchmark: Benchmark
    reference: str
    called: str
    preset: str
    device: DeviceDescription
    transforms: Transforms
    byte_count: int | None = None
    shared_local_size: LocalSize | None = None


class TuningProcesses:
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
        # Nobody knows yet how long a run takes.
        first = search_method(deadline.seconds)
        self._method = replace(first, repetitions=2, minimum_repetitions=2, warm_up=0)
        self.threads = ThreadPoolExecutor(PROCESSES + 2, thread_name_prefix="tune")
        self._pool = pool
        self.compiler = Compiler(
            launch.reference,
            "opencl_c",
            self._machine,
            self._method,
            pool,
            time_left=lambda: deadline.left,
            called=launch.called,
        )

    def context(self, rows: MemoryRows) -> SweepContext:
        """Return what the search measures with."""
        launch, process = self.launch, self.process(self._method)
        plan = SweepPlan(launch.reference, launch.device.index, launch.preset, method=self._method)
        context = context_with(plan, launch.benchmark, launch.device, rows, self.compiler, process)
        # Whoever tunes holds the device.
        return replace(context, lock=nullcontext)

    def process(self, method: Method) -> MeasuringProcess:
        """Return a process of its own that measures."""
        launch = self.launch
        made = MeasuringProcess(
            launch.reference,
            launch.preset,
            0,
            self._machine,
            method,
            time_left=lambda: self._deadline.left,
            variables=self._variables,
            shared_local_size=launch.shared_local_size,
            called=launch.called,
        )
        self._processes.append(made)
        return made

    def stop_compiling(self) -> None:
        """End the processes that compile: they would take the processors from those that measure."""
        self._pool.stop()

    def opened(self, process: MeasuringProcess) -> Future[None]:
        """Begin to open a process; nothing may be asked of it before that is done."""
        return self.threads.submit(process.open)

    def close(self) -> None:
        """End all processes."""
        self.threads.shutdown(wait=True, cancel_futures=True)
        for process in self._processes:
            process.close()


@contextmanager
def tuning_processes(launch: LaunchToTune, deadline: Deadline) -> Iterator[TuningProcesses]:
    """Work with processes that end afterwards."""
    # PoCL keeps what it compiles for ever: variants that lost are not worth it.
    with tuning_folder() as folder:
        variables = {"POCL_CACHE_DIR": str(folder)}
        with CompilePool(variables=variables) as pool:
            processes = TuningProcesses(launch, pool, variables, deadline)
            try:
                yield processes
            finally:
                processes.close()


class MemoryRows:
    """The rows of one tuning, which nobody needs afterwards: it is summed up in what is remembered."""

    def __init__(self) -> None:
        self._rows: dict[str, Measurement] = {}

    @property
    def rows(self) -> tuple[Measurement, ...]:
        """All rows, in the order in which they came."""
        return tuple(self._rows.values())

    def find(self, key: str) -> Measurement | None:
        """Return the row of this key, if there is one."""
        return self._rows.get(key)

    def add(self, measurement: Measurement) -> bool:
        """Store a row; False where one with its key was there."""
        return self._rows.setdefault(measurement.key, measurement) is measurement

    def replace(self, measurement: Measurement) -> None:
        """Store a row in place of the one with its key."""
        self._rows[measurement.key] = measurement


# Methods of timing the variants of a launch: in few runs in the search, in more when the best are timed again.

# A compilation and a run that hangs take at most so many seconds, and so much of the time.
_COMPILE_SECONDS = 60.0
_LEAST_COMPILE_SECONDS = 5.0
_GRACE_SECONDS = 5.0
_HUNG_SHARE = 0.25
# A variant takes at most so many times as long to compile as the launch as it is, or such a share of the time.
_COMPILE_TIMES = 8
_COMPILE_SHARE = 0.15
# By the seconds of a run, at least: the most runs of a variant, the fewest, and those before them.
_RUNS = ((0.1, 2, 2, 0), (0.02, 4, 2, 0), (0.0, 9, 3, 1))
_MOST_REPETITIONS = 40
_LEAST_REPETITIONS = 5
# Of runs that take so many seconds, fewer are enough.
_LONG_RUN = 0.05
_LEAST_LONG_REPETITIONS = 3
# Of all the time, what timing the best again may be given, least and most.
_LEAST_CONFIRMING_SHARE = 0.15
_MOST_CONFIRMING_SHARE = 0.3
# How many times as long as the launch as it is took in the search the finalists take in one process.
_FINALISTS_TIMES = 1.5


def search_method(seconds: float, run_seconds: float = 0.0) -> Method:
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
        timeout_multiple=2,
        grace_seconds=min(_GRACE_SECONDS, _HUNG_SHARE * seconds),
        compile_seconds=min(_COMPILE_SECONDS, max(_LEAST_COMPILE_SECONDS, _HUNG_SHARE * seconds)),
    )


def compiling_method(method: Method, seconds: float, own_seconds: float) -> Method:
    """Return a search's method with what its variants may take to compile, since others could be tried meanwhile.

    Args:
        method: of the search.
        seconds: that all may take.
        own_seconds: that the launch as it is took to compile.
    """
    limit = max(_COMPILE_TIMES * own_seconds, _COMPILE_SHARE * seconds)
    return replace(method, compile_seconds=min(limit, method.compile_seconds))


def confirming_method(seconds: float, variants: int, deadline: Deadline) -> Method:
    """Return how finalists are timed: as often as half of the time that is left allows.

    Args:
        seconds: of a run of the launch as it is.
        variants: the number of finalists.
        deadline: when all has to be over.
    """
    runs = deadline.left / 2 / PROCESSES / variants / (2 * max(seconds, 1e-6))
    least = _LEAST_LONG_REPETITIONS if seconds >= _LONG_RUN else _LEAST_REPETITIONS
    repetitions = min(_MOST_REPETITIONS, max(least, int(runs)))
    return replace(
        search_method(deadline.seconds, seconds),
        repetitions=repetitions,
        minimum_repetitions=min(least, repetitions),
        interval_width=0.01,
    )


def confirming_seconds(seconds: float, opening_seconds: float, own_seconds: float) -> float:
    """Return how long before the end a search is over, so that the best can be timed again in new processes.

    Args:
        seconds: that all may take.
        opening_seconds: that it took to start a process.
        own_seconds: that it took to verify and time the launch as it is.
    """
    needed = 2 * opening_seconds + PROCESSES * _FINALISTS_TIMES * own_seconds
    return min(max(needed, _LEAST_CONFIRMING_SHARE * seconds), _MOST_CONFIRMING_SHARE * seconds)
