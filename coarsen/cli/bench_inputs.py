"""The kernels and devices that `coarsen bench` is given, found before anything is measured."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from glob import escape
from pathlib import Path

from coarsen.cli.bench_options import SuiteName
from coarsen.cli.messages import note
from coarsen.cli.space_options import SpaceOptions
from coarsen.devices.discovery import DeviceDescription
from coarsen.devices.selection import find_device, find_working_device
from coarsen.errors import InvalidInputError
from coarsen.near_names import similar_names
from coarsen.opencl_bench.records.measurement import Method
from coarsen.opencl_bench.sweep.plan import Space, SweepPlan
from coarsen.opencl_bench.sweep.points import DeviceLimits, limits_of
from coarsen.opencl_bench.sweep.several import planned_rows
from coarsen.opencl_bench.workloads.benchmark import Benchmark
from coarsen.opencl_bench.workloads.described.check_signature import check_kernel_of
from coarsen.opencl_bench.workloads.lookup import SUITE, find_benchmark, judge, records
from coarsen.variant.transforms import DeviceKind, device_kind_of

# What makes the space of a benchmark on a kind of device with some limits.
SpaceOf = Callable[[Benchmark, DeviceKind, DeviceLimits], Space]
# Seconds that a compilation of one of a grid's many rows may take.
GRID_COMPILE_SECONDS = 20.0
# Limits of a device on a worker, which are not known here: everything is taken to fit.
_UNKNOWN = DeviceLimits(2**62, (2**62,) * 3, 2**62)


@dataclass(frozen=True, slots=True)
class PlannedDevice:
    """A device as it is named in a plan, what it can hold, and its kind where that is known."""

    name: str
    limits: DeviceLimits
    kind: DeviceKind = DeviceKind.ANY


def benchmarks_of(
    words: Sequence[str] | None,
    suite: SuiteName | None = None,
) -> list[tuple[Benchmark, str | Path]]:
    """Return the benchmarks that are asked for, each with what a plan calls it; the seventeen where none are.

    Args:
        words: names and files.
        suite: all of whose kernels are asked for; None for none.

    Raises:
        InvalidInputError: no such benchmark or file, a mistake in the file, arguments that aren't the kernel's.
    """
    whole = _kernels_of(suite) if suite is not None else ()
    names = dict.fromkeys((*map(described_name, words or ()), *whole)) or SUITE
    return [(_checked(name), name) for name in names]


def _kernels_of(suite: SuiteName) -> Iterable[str]:
    match suite:
        case SuiteName.SEVENTEEN:
            return SUITE
        case SuiteName.JUDGE:
            return judge()
        case SuiteName.RECORDS:
            return records()


def refuse_misspelt_subcommand(command: str, words: Sequence[str] | None, subcommands: Iterable[str]) -> None:
    """Refuse a first word that is no benchmark, nor like one, but almost a subcommand of a command.

    Args:
        command: the command's name.
        words: names and files, as `benchmarks_of` takes them.
        subcommands: the subcommands' names, `init` for one.

    Raises:
        InvalidInputError: the first word is almost a subcommand.
    """
    if not words or Path(words[0]).suffix or similar_names(words[0], SUITE):
        return
    near = [f"'coarsen {command} {each}'" for each in similar_names(words[0], subcommands)]
    if near:
        raise InvalidInputError(f"no benchmark {words[0]!r} (did you mean {' or '.join(near)}?)")


def _checked(name: str | Path) -> Benchmark:
    benchmark = find_benchmark(name)
    if isinstance(name, Path):
        check_kernel_of(name)
    return benchmark


def places_of(words: Sequence[str] | None, form: str, on_cluster: bool) -> list[PlannedDevice]:
    """Return the devices that words name, each once.

    Raises:
        DeviceError: no such device.
        InvalidInputError: a device that doesn't take the form; no device for a cluster.
    """
    if on_cluster:
        if not words:
            raise InvalidInputError("--scheduler needs --device: the names that the workers offer as resources")
        return [PlannedDevice(name, _UNKNOWN) for name in dict.fromkeys(word.strip().lower() for word in words)]
    if not words:
        device = find_working_device()
        note(f"measuring on {device}")
        return [_place(device.index, device, form)]
    devices: dict[str, tuple[str, DeviceDescription]] = {}
    for word in words:
        device = find_device(word)
        devices.setdefault(device.index, (word, device))
    return [_place(word, device, form) for word, device in devices.values()]


def plans_of(
    benchmarks: Iterable[tuple[Benchmark, str | Path]],
    places: Sequence[PlannedDevice],
    plan_of: Callable[[Benchmark, str | Path, PlannedDevice], SweepPlan],
    rows_of: Callable[[Benchmark, SweepPlan, DeviceLimits], int] = planned_rows,
) -> Iterator[tuple[SweepPlan, int]]:
    """Yield the plan of every benchmark on every device, with the number of its rows.

    Args:
        benchmarks: with what a plan calls each.
        places: the devices.
        plan_of: makes the plan of a benchmark, its name and a device.
        rows_of: returns how many rows a plan will have.

    Raises:
        InvalidInputError: a benchmark without this preset; a space that isn't one.
    """
    for benchmark, name in benchmarks:
        for place in places:
            plan = plan_of(benchmark, name, place)
            yield plan, rows_of(benchmark, plan, place.limits)


def spaces(preset: str, wanted: SpaceOptions, grid: bool) -> SpaceOf:
    """Return what says which space of a benchmark is measured on a device.

    Args:
        preset: of the sizes.
        wanted: the space that the options describe.
        grid: of `--grid`: the launches that `coarsen predict` considers are measured instead.

    Raises:
        InvalidInputError: options of a space beside `--grid`.
    """
    if not grid:
        return lambda benchmark, _kind, _limits: wanted.of(benchmark, preset)
    if wanted != SpaceOptions.default():
        raise InvalidInputError("--grid says what is measured: leave out the options of a space")
    # Imported late: it loads the launch model, which a space does without.
    from coarsen.opencl_bench.sweep.grid_design import GridDesign

    design = GridDesign()
    return lambda benchmark, kind, limits: design.space(benchmark, preset, kind, limits)


def method_for(method: Method, grid: bool) -> Method:
    """Return the method of a grid's rows: none of so many is worth minutes of a compiler's time."""
    seconds = min(method.compile_seconds, GRID_COMPILE_SECONDS)
    return replace(method, compile_seconds=seconds) if grid else method


def described_name(word: str) -> str | Path:
    """Return what a plan calls a kernel: the path of its description, or a name.

    Raises:
        InvalidInputError: a kernel's file has no description beside it.
    """
    path = Path(word)
    if path.suffix == ".cl":
        description = path.with_suffix(".toml")
        if not description.is_file():
            # Of several kernels each has a description of its own.
            others = sorted(each.name for each in path.parent.glob(f"{escape(path.stem)}.*.toml"))
            what = f"give {' or '.join(others)}" if others else f"coarsen bench init {path} writes it"
            raise InvalidInputError(f"{path}: there is no {description.name} beside it; {what}")
        path = description
    return path.resolve() if path.suffix == ".toml" else word


def _place(word: str, device: DeviceDescription, form: str) -> PlannedDevice:
    if form == "spirv" and not device.takes_spirv:
        raise InvalidInputError(f"{device} takes no SPIR-V")
    return PlannedDevice(word, limits_of(device), device_kind_of(device.device_types))
