"""Runs the sweeps of a pack on a device: one after the other, sharing the time that there is."""

from __future__ import annotations

import importlib.metadata
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from coarsen.errors import DeviceError, InvalidInputError
from coarsen.opencl_bench.measure.session import KEPT_BYTES
from coarsen.opencl_bench.records.measurement import Measurement, Method
from coarsen.opencl_bench.results.best import best_words
from coarsen.opencl_bench.results.exchange.lines import LineFile
from coarsen.opencl_bench.results.summaries import summaries
from coarsen.opencl_bench.sweep.measuring_process import MeasuringProcess
from coarsen.opencl_bench.sweep.observer import SweepObserver
from coarsen.opencl_bench.sweep.pack.plan import PackedSweep
from coarsen.opencl_bench.sweep.pack.reading import Pack, PackedCodes, PackedSubjects
from coarsen.opencl_bench.sweep.pack.target import Target
from coarsen.opencl_bench.sweep.points import points
from coarsen.opencl_bench.sweep.rows import RowSweep, Surroundings
from coarsen.opencl_bench.workloads.lookup import find_benchmark

SECONDS_PER_MINUTE = 60.0


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What of a pack is run, and how.

    `benchmarks`: the names of those wanted, all if empty. `method` gives the method for the pack's. `minutes`: how
    long the run may take, without a limit if None; a benchmark whose share is used up is left where it is.
    `kept_bytes`: of inputs and outputs that may be kept for later. `confirms`: the best configuration of each is
    timed once more, in a new process.
    """

    benchmarks: tuple[str, ...] = ()
    method: Callable[[Method], Method] = lambda packed: packed
    minutes: float | None = None
    kept_bytes: int = KEPT_BYTES
    confirms: bool = True


class _TimeIsUpError(Exception):
    """A benchmark's share of the time is used up."""


def run_pack(pack: Pack, target: Target, rows: LineFile, request: RunRequest) -> None:
    """Measure what the pack has for this device, and print how it goes.

    Args:
        pack: the pack.
        target: the device, and which form of code it is given.
        rows: where the rows go.
        request: what to leave out.

    Raises:
        InvalidInputError: the pack is damaged, has nothing that was asked for, or another version made it.
    """
    _check_version(pack)
    sweeps = _chosen(pack, target, request)
    start = time.monotonic()
    for number, sweep in enumerate(sweeps):
        share = None
        if request.minutes is not None:
            left = request.minutes * SECONDS_PER_MINUTE - (time.monotonic() - start)
            share = left / (len(sweeps) - number)
        deadline = None if share is None else time.monotonic() + share
        _run_sweep(pack, sweep, target, rows, request, _Reporter(deadline))


def _check_version(pack: Pack) -> None:
    """Inputs and references are made here; rows say that the version did that which made the pack."""
    made_by = dict(pack.plan.versions).get("coarsen")
    try:
        here = importlib.metadata.version("coarsen")
    except importlib.metadata.PackageNotFoundError:  # copied here, not installed
        return
    if made_by != here:
        raise InvalidInputError(f"the pack was made by coarsen {made_by}, and this is {here}")


def _chosen(pack: Pack, target: Target, request: RunRequest) -> list[PackedSweep]:
    fitting = [sweep for sweep in pack.plan.sweeps if sweep.form == target.form]
    if not fitting:
        raise InvalidInputError(f"the pack has no code of the form {target.form}")
    names = {sweep.name for sweep in fitting}
    unknown = [name for name in request.benchmarks if name not in names]
    if unknown:
        raise InvalidInputError(f"the pack has no benchmark {unknown[0]!r}; it has {', '.join(sorted(names))}")
    return [sweep for sweep in fitting if not request.benchmarks or sweep.name in request.benchmarks]


def _run_sweep(
    pack: Pack, sweep: PackedSweep, target: Target, rows: LineFile, request: RunRequest, reporter: _Reporter
) -> None:
    method = request.method(sweep.method)
    machine = {**target.machine(), "kept_bytes": request.kept_bytes}
    benchmark = pack.benchmark(sweep)
    found = find_benchmark(benchmark)
    content_hash = found.content_hash(sweep.preset)
    if sweep.content_hash not in ("", content_hash):
        raise InvalidInputError(f"{sweep.name} is not what the pack was made with")
    codes = PackedCodes(pack, sweep)
    space = points(found, sweep.preset, sweep.space, target.limits())
    with MeasuringProcess(benchmark, sweep.preset, sweep.seed, machine, method, content_hash) as process:
        surroundings = Surroundings(
            device=str(target),
            environment=target.environment(pack.plan.versions),
            method=method,
            subjects=PackedSubjects(sweep),
            codes=codes,
            process=process,
            rows=rows,
            lock=target.lock,
            observer=reporter,
            confirms=request.confirms,
        )
        try:
            problem = RowSweep(surroundings).run([codes.with_limits_of_pack(point) for point in space])
        except _TimeIsUpError:
            problem = "its share of the time is used up; the next run goes on from here"
        except DeviceError as error:
            problem = str(error)
        except (OSError, InvalidInputError):  # no more rows can be kept, or the pack is damaged
            raise
        except Exception as error:  # a bug, too, must not end the other sweeps
            problem = f"this is a bug in coarsen: {type(error).__name__}: {' '.join(str(error).split())}"
    reporter.finish(sweep.name, problem)


class _Reporter(SweepObserver):
    """Prints one line per benchmark, and ends a sweep when its time is up."""

    def __init__(self, deadline: float | None) -> None:
        self._deadline = deadline
        self._start = time.monotonic()
        self._measured = 0
        self._rows: list[Measurement] = []

    def stored(self, measurement: Measurement, measured: bool) -> None:
        """See `SweepObserver`. Raises _TimeIsUpError."""
        self._rows.append(measurement)
        self._measured += measured
        if self._deadline is not None and time.monotonic() > self._deadline:
            raise _TimeIsUpError

    def finish(self, name: str, problem: str) -> None:
        """Print what came of the benchmark."""
        counts = Counter(row.invalidity.value for row in self._rows)
        endings = ", ".join(f"{count} {ending}" for ending, count in counts.items())
        seconds = time.monotonic() - self._start
        print(f"{name}: {endings or 'no rows'}; {self._measured} measured in {seconds:.0f} s", flush=True)
        if problem:
            print(f"  {problem}", flush=True)
        for summary in summaries(self._rows):
            if summary.best is not None:
                print(
                    f"  {summary.best.candidate}: {best_words(summary.best.speedup)} over {summary.best.baseline}",
                    flush=True,
                )
