"""Runs the sweeps of a pack on a device: one after the other, sharing the time that there is."""

from __future__ import annotations

import importlib.metadata
import time
from collections import Counter
from dataclasses import dataclass, replace

from coarsen.base.names import did_you_mean
from coarsen.devices.discovery import DeviceDescription, discover_devices
from coarsen.devices.health import check_health
from coarsen.devices.selection import find_device, find_working_device
from coarsen.errors import DeviceError, InvalidInputError, printable_in_line
from coarsen.opencl_bench.results.best import best_words, summaries
from coarsen.opencl_bench.results.exchange.lines import LineFile
from coarsen.opencl_bench.sweep.engine import process_of
from coarsen.opencl_bench.sweep.pack.plan import Pack, PackedCodes, PackedSweep
from coarsen.opencl_bench.workloads.lookup import find_benchmark
from coarsen.tuning.engine.observer import SweepObserver, exit_code_without_baseline, problem_of
from coarsen.tuning.engine.plan import LaunchConstraint, Point, SweepPlan, limits_of
from coarsen.tuning.engine.row_measurer import context_with
from coarsen.tuning.engine.rows import measure_points
from coarsen.tuning.measure.machine import installed_versions
from coarsen.tuning.processes.compiler import CompilePool
from coarsen.tuning.records.code import Form
from coarsen.tuning.records.measurement import Measurement, Method
from coarsen.tuning.workload.launch_list import LAUNCH_SUFFIXES


@dataclass(frozen=True, slots=True)
class RunRequest:
    """The part of a pack that is run, and the way.

    `benchmarks`: the names of those wanted, all if empty. `method`: in place of the pack's, if there is one.
    `confirms`: the best configurations of each are timed once more, in several new processes. `part`: which of how
    many parts is run, the first being 1; the sweeps are dealt out in turn.
    """

    benchmarks: tuple[str, ...] = ()
    method: Method | None = None
    confirms: bool = True
    part: tuple[int, int] = (1, 1)


@dataclass(frozen=True, slots=True)
class FailedSweep:
    """A benchmark that came to nothing: why, in one line, and the exit code that says so."""

    benchmark: str
    problem: str
    exit_code: int


def run_pack(
    pack: Pack, device: DeviceDescription, form: Form, rows: LineFile, request: RunRequest
) -> list[FailedSweep]:
    """Measure what the pack has for this device, and print how it goes.

    Args:
        pack: the pack.
        device: where.
        form: of the code that it is given.
        rows: where the rows go.
        request: what to leave out.

    Returns:
        the benchmarks that failed.

    Raises:
        InvalidInputError: the pack is damaged, has nothing that was asked for, or another version made it.
    """
    _check_version(pack)
    sweeps = _chosen(pack, form, request)
    with CompilePool() as pool:
        found = [_run_sweep(pack, sweep, device, rows, request, _Reporter(), pool) for sweep in sweeps]
    return [failure for failure in found if failure is not None]


def _check_version(pack: Pack) -> None:
    """Inputs and references are made here; rows say that the version did that which made the pack."""
    made_by = dict(pack.plan.versions).get("coarsen")
    try:
        here = importlib.metadata.version("coarsen")
    except importlib.metadata.PackageNotFoundError:  # copied here, not installed
        return
    if made_by != here:
        raise InvalidInputError(f"the pack was made by coarsen {made_by}, and this is {here}")


def _chosen(pack: Pack, form: Form, request: RunRequest) -> list[PackedSweep]:
    fitting = [sweep for sweep in pack.plan.sweeps if sweep.form == form]
    if not fitting:
        raise InvalidInputError(f"the pack has no code of the form {form}")
    names = {sweep.name for sweep in fitting}
    unknown = [name for name in request.benchmarks if name not in names]
    if unknown:
        hint = did_you_mean(unknown[0], names)
        raise InvalidInputError(
            f"the pack has no benchmark {unknown[0]!r}{hint}; it has {', '.join(sorted(names))}"
        )
    wanted = [sweep for sweep in fitting if not request.benchmarks or sweep.name in request.benchmarks]
    part, parts = request.part
    return wanted[part - 1 :: parts]


def _run_sweep(
    pack: Pack,
    sweep: PackedSweep,
    device: DeviceDescription,
    rows: LineFile,
    request: RunRequest,
    reporter: _Reporter,
    pool: CompilePool,
) -> FailedSweep | None:
    reference = pack.benchmark(sweep)
    found = find_benchmark(reference)
    if reference.endswith(LAUNCH_SUFFIXES):
        pack.check_kernel_file(found)
    if sweep.content_hash != found.content_hash(sweep.preset):
        raise InvalidInputError(f"{sweep.name} is not what the pack was made with")
    method = request.method or sweep.method
    plan = SweepPlan(reference, device.index, sweep.preset, sweep.seed, method=method, form=sweep.form)
    codes = PackedCodes(pack, sweep)
    versions = (*pack.plan.versions, *installed_versions(["pyopencl"]))
    # What was packed, and not the space anew: a sample would be another within other limits.
    violation = LaunchConstraint(found, sweep.preset, limits_of(device))
    packed = [Point(each.candidate, violation(each.candidate)) for each in sweep.candidates]
    with process_of(plan, found, device, pool) as process:
        context = context_with(plan, found, device, rows, codes, process, sweep, versions)
        context = replace(context, observer=reporter, confirms=request.confirms)
        exit_code = 0
        try:
            problem = measure_points(context, [codes.with_limits_of_pack(point) for point in packed])
            exit_code = exit_code_without_baseline(reporter.rows) if problem else 0
        except (OSError, InvalidInputError):  # no more rows can be kept, or the pack is damaged
            raise
        except Exception as error:  # a bug, too, must not end the other sweeps
            problem, exit_code = problem_of(error)
    reporter.finish(sweep.name, problem)
    return FailedSweep(sweep.name, problem, exit_code) if exit_code else None


class _Reporter(SweepObserver):
    """Prints one line per benchmark."""

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._measured = 0
        self.rows: list[Measurement] = []

    def stored(self, measurement: Measurement, measured: bool) -> None:
        """See `SweepObserver`."""
        self.rows.append(measurement)
        self._measured += measured

    def finish(self, name: str, problem: str) -> None:
        """Print what came of the benchmark."""
        counts = Counter(row.invalidity.value for row in self.rows)
        endings = ", ".join(f"{count} {ending}" for ending, count in counts.items())
        seconds = time.monotonic() - self._start
        _say(f"{name}: {endings or 'no rows'}; {self._measured} measured in {seconds:.0f} s")
        if problem:
            _say(f"  {problem}")
        for summary in summaries(self.rows):
            if summary.best is not None:
                best = summary.best
                _say(f"  {best.candidate}: {best_words(best.speedup)} over {best.baseline}")


def _say(line: str) -> None:
    print(printable_in_line(line), flush=True)


# The device that a pack is run on.


def device_for(spec: str | None, form: Form) -> DeviceDescription:
    """Return the device that a person calls so; the first GPU, or else any device, if None.

    Raises DeviceError where there is none, or it can't be given such code.
    """
    device = find_device(spec) if spec is not None else _first_device()
    if form == "spirv" and not device.takes_spirv:
        raise DeviceError(f"{device} takes no SPIR-V")
    return device


def _first_device() -> DeviceDescription:
    for device in discover_devices():
        if "gpu" in device.device_types and check_health(device).works:
            return device
    return find_working_device()
