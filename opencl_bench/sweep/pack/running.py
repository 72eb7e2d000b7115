"""Runs the sweeps of a pack on a device: one after the other, sharing the time that there is."""

from __future__ import annotations

import importlib.metadata
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Protocol

from coarsen.base.names import did_you_mean
from coarsen.errors import DeviceError, InvalidInputError, printable_in_line
from coarsen.opencl_bench.results.best import best_words, summaries
from coarsen.opencl_bench.results.exchange.lines import LineFile
from coarsen.opencl_bench.sweep.pack.plan import PackedSweep
from coarsen.opencl_bench.sweep.pack.reading import Pack, PackedCodes, PackedSubjects
from coarsen.opencl_bench.workloads.lookup import find_benchmark
from coarsen.tuning.engine.observer import SweepObserver, exit_code_without_baseline, problem_of
from coarsen.tuning.engine.plan import DeviceLimits, LaunchConstraint, Point, limits_of
from coarsen.tuning.engine.row_measurer import SweepContext
from coarsen.tuning.engine.rows import measure_against_default, measure_points
from coarsen.tuning.measure.environment import Versions, environment_of, installed_versions
from coarsen.tuning.measure.session import KEPT_BYTES
from coarsen.tuning.processes.child_process import ChildDiedError, ChildProcess, ChildTimedOutError
from coarsen.tuning.processes.device_lock import device_lock, named_lock
from coarsen.tuning.processes.measuring_process import OPENING_SECONDS, SERVICE, MeasuringProcess
from coarsen.tuning.records.code import Code, Form
from coarsen.tuning.records.measurement import Environment, Measurement, Method

if TYPE_CHECKING:
    from coarsen.devices.discovery import DeviceDescription
    from coarsen.tuning.measure.cuda_driver import CudaDevice


SECONDS_PER_MINUTE = 60.0


@dataclass(frozen=True, slots=True)
class RunRequest:
    """The part of a pack that is run, and the way.

    `benchmarks`: the names of those wanted, all if empty. `method` gives the method for the pack's. `minutes`: how
    long the run may take, without a limit if None; a benchmark whose share is used up is left where it is.
    `kept_bytes`: of inputs and outputs that may be kept for later. `confirms`: the best configurations of each
    are timed once more, in several new processes. `part`: which of how many parts is run, the first being 1; the
    sweeps are dealt out in turn. `builders`: so many processes build code ahead, none if 0.
    """

    benchmarks: tuple[str, ...] = ()
    method: Callable[[Method], Method] = lambda packed: packed
    minutes: float | None = None
    kept_bytes: int = KEPT_BYTES
    confirms: bool = True
    part: tuple[int, int] = (1, 1)
    builders: int = 0


class _TimeIsUpError(Exception):
    """A benchmark's share of the time is used up."""


@dataclass(frozen=True, slots=True)
class FailedSweep:
    """A benchmark that came to nothing: why, in one line, and the exit code that says so."""

    benchmark: str
    problem: str
    exit_code: int


def run_pack(pack: Pack, target: Target, rows: LineFile, request: RunRequest) -> list[FailedSweep]:
    """Measure what the pack has for this device, and print how it goes.

    Args:
        pack: the pack.
        target: the device, and which form of code it is given.
        rows: where the rows go.
        request: what to leave out.

    Returns:
        the benchmarks that failed; not those whose time was up.

    Raises:
        InvalidInputError: the pack is damaged, has nothing that was asked for, or another version made it.
    """
    _check_version(pack)
    sweeps = _chosen(pack, target, request)
    start = time.monotonic()
    failures = []
    with ChildProcess(SERVICE) as child, _builders(pack, sweeps, target, request) as builders:
        for number, sweep in enumerate(sweeps):
            share = None
            if request.minutes is not None:
                left = request.minutes * SECONDS_PER_MINUTE - (time.monotonic() - start)
                share = left / (len(sweeps) - number)
            deadline = None if share is None else time.monotonic() + share
            failure = _run_sweep(pack, sweep, target, rows, request, _Reporter(deadline), (child, builders))
            failures += [failure] if failure else []
    return failures


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
        hint = did_you_mean(unknown[0], names)
        raise InvalidInputError(
            f"the pack has no benchmark {unknown[0]!r}{hint}; it has {', '.join(sorted(names))}"
        )
    wanted = [sweep for sweep in fitting if not request.benchmarks or sweep.name in request.benchmarks]
    part, parts = request.part
    return wanted[part - 1 :: parts]


@contextmanager
def _builders(
    pack: Pack, sweeps: Sequence[PackedSweep], target: Target, request: RunRequest
) -> Iterator[Builders | None]:
    """Processes that build what the sweeps need; none where none are wanted."""
    if not request.builders or not sweeps:
        yield None
        return
    seconds = request.method(sweeps[0].method).compile_seconds
    hashes = [each.code for sweep in sweeps for each in sweep.candidates if each.code is not None]
    with Builders(request.builders, target.machine(), seconds) as builders:
        builders.begin(hashes, pack.code)
        if "cpu" in target.environment(pack.plan.versions).device_types:
            _say(f"building {len(set(hashes))} kernels before anything is measured")
            builders.wait()
        yield builders


def _run_sweep(
    pack: Pack,
    sweep: PackedSweep,
    target: Target,
    rows: LineFile,
    request: RunRequest,
    reporter: _Reporter,
    processes: tuple[ChildProcess, Builders | None],
) -> FailedSweep | None:
    child, builders = processes
    method = request.method(sweep.method)
    machine = {**target.machine(), "kept_bytes": request.kept_bytes}
    benchmark = pack.benchmark(sweep)
    found = find_benchmark(benchmark)
    if benchmark.endswith(".toml"):
        pack.check_kernel_file(found)
    content_hash = found.content_hash(sweep.preset)
    if sweep.content_hash not in ("", content_hash):
        raise InvalidInputError(f"{sweep.name} is not what the pack was made with")
    codes = PackedCodes(pack, sweep) if builders is None else PackedCodes(pack, sweep, builders.binary)
    # What was packed, and not the space anew: a sample would be another within other limits.
    violation = LaunchConstraint(found, sweep.preset, target.limits())
    packed = [Point(each.candidate, violation(each.candidate)) for each in sweep.candidates]
    with MeasuringProcess(
        benchmark,
        sweep.preset,
        sweep.seed,
        machine,
        method,
        content_hash,
        shared_local_size=found.shared_local_size,
        default=sweep.default,
        child=child,
    ) as process:
        context = SweepContext(
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
            clock=found.clock,
            default=sweep.default,
        )
        exit_code = 0
        try:
            measure = measure_points if sweep.default is None else measure_against_default
            problem = measure(context, [codes.with_limits_of_pack(point) for point in packed])
            exit_code = exit_code_without_baseline(reporter.rows) if problem else 0
        except _TimeIsUpError:
            problem = "its share of the time is used up; the next run goes on from here"
        except (OSError, InvalidInputError):  # no more rows can be kept, or the pack is damaged
            raise
        except Exception as error:  # a bug, too, must not end the other sweeps
            problem, exit_code = problem_of(error)
    reporter.finish(sweep.name if sweep.default is None else f"{sweep.name}, {sweep.preset}", problem)
    return FailedSweep(sweep.name, problem, exit_code) if exit_code else None


class _Reporter(SweepObserver):
    """Prints one line per benchmark, and ends a sweep when its time is up."""

    def __init__(self, deadline: float | None) -> None:
        self._deadline = deadline
        self._start = time.monotonic()
        self._measured = 0
        self.rows: list[Measurement] = []

    def stored(self, measurement: Measurement, measured: bool) -> None:
        """See `SweepObserver`. Raises _TimeIsUpError."""
        self.rows.append(measurement)
        self._measured += measured
        if self._deadline is not None and time.monotonic() > self._deadline:
            raise _TimeIsUpError

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


# Builds a pack's code ahead, in several processes: the process that measures then finds it built.
#
#   codes in the order of the sweeps ─▶ N processes that only build ─▶ binaries, and the driver's cache on the disk
#
# A driver that builds in the process that measures does so while the device waits. On a CPU the builders would
# disturb what is measured: there everything is built first.


class Builders:
    """Processes that build.

    Whatever goes wrong in one of them goes wrong once more where the code is measured, and is a row then.

    Args:
        count: how many at once.
        machine: the device, as `open_machine` takes it.
        seconds: so long may a build take.
    """

    def __init__(self, count: int, machine: Mapping[str, Any], seconds: float) -> None:
        self._machine = machine
        self._seconds = seconds
        self._pool = ThreadPoolExecutor(count, thread_name_prefix="build")
        self._local = threading.local()
        self._children: list[ChildProcess] = []
        self._futures: dict[str, Future[str | None]] = {}

    def __enter__(self) -> Builders:
        return self

    def __exit__(self, *_exception: object) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)
        for child in list(self._children):
            child.end()
        self._pool.shutdown(wait=True)
        for child in self._children:
            child.close()

    def begin(self, hashes: Sequence[str], code_of: Callable[[str], Code]) -> None:
        """Begin to build codes, in this order, those apart that were begun before.

        Args:
            hashes: of the codes.
            code_of: reads one.
        """
        for each in hashes:
            if each not in self._futures:
                self._futures[each] = self._pool.submit(self._build, each, code_of)

    def binary(self, code_hash: str) -> str | None:
        """Wait for a code that was begun: the device's binary in base64; None where there is none."""
        future = self._futures.get(code_hash)
        return future.result() if future is not None else None

    def wait(self) -> None:
        """Wait for all that was begun."""
        for future in self._futures.values():
            future.result()

    def _build(self, code_hash: str, code_of: Callable[[str], Code]) -> str | None:
        child = self._child()
        # A process that isn't there yet opens the device first.
        seconds = self._seconds if child.is_running else OPENING_SECONDS + self._seconds
        request = {"do": "build", "machine": self._machine, "code": code_of(code_hash).to_json()}
        try:
            binary: str | None = child.ask(request, seconds).get("binary")
        except (ChildDiedError, ChildTimedOutError):
            return None
        return binary

    def _child(self) -> ChildProcess:
        if not hasattr(self._local, "child"):
            self._local.child = ChildProcess(SERVICE)
            self._children.append(self._local.child)
        child: ChildProcess = self._local.child
        return child


# The device that a pack is run on: what it is called, what it can do, how a child process opens it.


class Target(Protocol):
    """A device, and the form of code that it is given."""

    @property
    def form(self) -> Form:
        """The form of code."""
        ...

    def machine(self) -> Mapping[str, Any]:
        """As `measure_service.open_machine` takes it."""
        ...

    def limits(self) -> DeviceLimits:
        """Return the limits of the device."""
        ...

    def environment(self, versions: Versions) -> Environment:
        """Return the environment of the measurements; `versions` are those of what made the code."""
        ...

    def lock(self) -> AbstractContextManager[object]:
        """Held while something is measured."""
        ...


@dataclass(frozen=True, slots=True)
class OpenClTarget:
    """An OpenCL device."""

    device: DeviceDescription
    form: Form

    @classmethod
    def find(cls, spec: str | None, form: Form) -> OpenClTarget:
        """Return the device that a person calls so; the first GPU, or else any device, if None.

        Raises DeviceError.
        """
        try:
            from coarsen.devices.selection import find_device
        except ImportError as error:
            raise DeviceError(f"there is no PyOpenCL here ({error}); --cuda does without") from None
        device = find_device(spec) if spec is not None else _first_device()
        if form == "spirv" and not device.takes_spirv:
            raise DeviceError(f"{device} takes no SPIR-V")
        return cls(device, form)

    def __str__(self) -> str:
        return str(self.device)

    def machine(self) -> Mapping[str, Any]:
        """See `Target`."""
        return {"kind": "opencl", "device": asdict(self.device)}

    def limits(self) -> DeviceLimits:
        """See `Target`."""
        return limits_of(self.device)

    def environment(self, versions: Versions) -> Environment:
        """See `Target`."""
        return environment_of(self.device, self.form, (*versions, *installed_versions(["pyopencl"])))

    def lock(self) -> AbstractContextManager[object]:
        """See `Target`."""
        return device_lock(self.device)


@dataclass(frozen=True, slots=True)
class CudaTarget:
    """An NVIDIA device, without OpenCL."""

    device: CudaDevice

    @classmethod
    def find(cls, spec: str | None) -> CudaTarget:
        """Return the device of this number, the first if None. Raises DeviceError."""
        if spec is not None and not spec.isdecimal():
            raise DeviceError(f"a CUDA device is called by its number, not {spec!r}")
        try:
            from coarsen.tuning.measure.cuda_driver import describe_device
        except ImportError as error:
            raise DeviceError(f"there is no cuda-bindings here ({error})") from None
        return cls(describe_device(int(spec or 0)))

    def __str__(self) -> str:
        return str(self.device)

    @property
    def form(self) -> Form:
        """See `Target`."""
        return "ptx"

    def machine(self) -> Mapping[str, Any]:
        """See `Target`."""
        return {"kind": "cuda", "index": self.device.index}

    def limits(self) -> DeviceLimits:
        """See `Target`."""
        device = self.device
        return DeviceLimits(device.max_work_group_size, device.max_work_item_sizes, device.local_memory)

    def environment(self, versions: Versions) -> Environment:
        """See `Target`. The platform's version names the compute capability, as PTX does."""
        device = self.device
        return Environment(
            vendor="NVIDIA Corporation",
            device=device.name,
            driver_version=device.driver_version,
            platform="NVIDIA CUDA driver",
            platform_version=f"CUDA {device.cuda_version} {device.architecture}",
            compute_units=device.multiprocessors,
            device_types=("gpu",),
            form="ptx",
            versions=(*versions, *installed_versions(["cuda-bindings"])),
        )

    def lock(self) -> AbstractContextManager[object]:
        """See `Target`."""
        return named_lock("cuda", self.device.name, str(self.device.index))


def _first_device() -> DeviceDescription:
    from coarsen.devices.discovery import discover_devices
    from coarsen.devices.health import check_health
    from coarsen.devices.selection import find_working_device

    for device in discover_devices():
        if "gpu" in device.device_types and check_health(device).works:
            return device
    return find_working_device()
