"""The kernels and devices that `coarsen bench` is given, found before anything is measured."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from glob import escape
from pathlib import Path
from types import MappingProxyType

from coarsen.cli.messages import note
from coarsen.devices.discovery import DeviceDescription
from coarsen.devices.selection import find_device, find_working_device
from coarsen.errors import InvalidInputError
from coarsen.loops import SUFFIX as C_SUFFIX
from coarsen.opencl_bench.workloads.described.check_signature import check_kernel_of
from coarsen.opencl_bench.workloads.lookup import SUITE, find_benchmark, judge, records
from coarsen.tuning.engine.plan import DeviceLimits, limits_of
from coarsen.tuning.workload.benchmark import Benchmark
from coarsen.tuning.workload.launch_list import CAPTURED_SUFFIX, LAUNCH_SUFFIXES
from coarsen.variant.transforms import DeviceKind, device_kind_of


@dataclass(frozen=True, slots=True)
class PlannedDevice:
    """A device as it is named in a plan, what it can hold, and its kind where that is known."""

    name: str
    limits: DeviceLimits
    kind: DeviceKind = DeviceKind.ANY


def benchmarks_of(words: Sequence[str] | None) -> list[tuple[Benchmark, str | Path]]:
    """Return the benchmarks that are asked for, each with what a plan calls it; the seventeen where none are.

    Args:
        words: names, of a benchmark or a suite, and files.

    Raises:
        InvalidInputError: no such benchmark or file, a mistake in the file, arguments that aren't the kernel's.
    """
    names: dict[str | Path, None] = {}
    for word in words or (SEVENTEEN,):
        suite = _SUITES.get(word)
        names |= dict.fromkeys([described_name(word)] if suite is None else suite())
    return [(_checked(name), name) for name in names]


SEVENTEEN = "seventeen"
_SUITES: Mapping[str, Callable[[], Iterable[str]]] = MappingProxyType(
    {SEVENTEEN: lambda: SUITE, "judge": judge, "records": records}
)


def _checked(name: str | Path) -> Benchmark:
    benchmark = find_benchmark(name)
    if isinstance(name, Path) and name.suffix != CAPTURED_SUFFIX:
        check_kernel_of(name)
    return benchmark


def places_of(words: Sequence[str] | None, form: str) -> list[PlannedDevice]:
    """Return the devices that words name, each once.

    Raises:
        DeviceError: no such device.
        InvalidInputError: a device that doesn't take the form.
    """
    if not words:
        device = find_working_device()
        note(f"measuring on {device}")
        return [_place(device.index, device, form)]
    devices: dict[str, tuple[str, DeviceDescription]] = {}
    for word in words:
        device = find_device(word)
        devices.setdefault(device.index, (word, device))
    return [_place(word, device, form) for word, device in devices.values()]


def described_name(word: str) -> str | Path:
    """Return what a plan calls a kernel: the path of its description, or a name.

    Raises:
        InvalidInputError: a kernel's file has no description beside it.
    """
    path = Path(word)
    if path.suffix in (".cl", C_SUFFIX):
        description = path.with_suffix(".toml")
        if not description.is_file():
            # Of several kernels each has a description of its own.
            others = sorted(each.name for each in path.parent.glob(f"{escape(path.stem)}.*.toml"))
            what = f"give {' or '.join(others)}" if others else f"coarsen describe {path} writes it"
            raise InvalidInputError(f"{path}: there is no {description.name} beside it; {what}")
        path = description
    return path.resolve() if path.suffix in LAUNCH_SUFFIXES else word


def _place(word: str, device: DeviceDescription, form: str) -> PlannedDevice:
    if form == "spirv" and not device.takes_spirv:
        raise InvalidInputError(f"{device} takes no SPIR-V")
    return PlannedDevice(word, limits_of(device), device_kind_of(device.device_types))
