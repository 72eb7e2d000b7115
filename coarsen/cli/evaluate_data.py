"""The data that `coarsen evaluate` reads: the examples to evaluate on, and those to learn from besides."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from coarsen.cli.messages import note
from coarsen.cli.output import counted
from coarsen.errors import InvalidInputError
from coarsen.models.best_factors import PUBLISHED
from coarsen.models.device_descriptors import DEVICE_DESCRIPTORS
from coarsen.models.evaluation.entrants import entrant
from coarsen.models.evaluation.evaluation import Plan
from coarsen.models.examples import Example
from coarsen.opencl_bench.results.curves import Curve, CurveData, merged, read_table
from coarsen.opencl_bench.results.examples import examples_of
from coarsen.opencl_bench.results.launch_cases import check_learnable
from coarsen.opencl_bench.results.measured_curves import read_curves
from coarsen.opencl_bench.results.measured_rows import shipped_files
from coarsen.processes import processors

NOTHING = "none"


@dataclass(frozen=True)
class DataRequest:
    """The data to read: see the options of these names. No `training` means the synthetic kernels."""

    data: tuple[str, ...]
    training: tuple[str, ...]
    preset: str | None = None
    kernels: Path | None = None


@dataclass(frozen=True)
class EvaluationData:
    """Examples to evaluate on, examples to learn from besides, and others' predictions by kernel and device.

    `devices` are those that were asked for, as the data calls them.
    """

    data: tuple[Example, ...]
    further: tuple[Example, ...]
    published: Mapping[tuple[str, str], int]
    devices: tuple[str, ...] = ()


def read_data(wanted: DataRequest, plan: Plan, needs_training: bool) -> EvaluationData:
    """Read everything, and say what was left out.

    Args:
        wanted: which files.
        plan: the methods, and the devices that are asked for.
        needs_training: whether any method would use the further training data.

    Raises:
        InvalidInputError: a file can't be read; a kernel is not known; a device is not in the data, or nothing is
            known of it that a method needs.
    """
    read = merged([read_curves(source, wanted.preset, wanted.kernels) for source in wanted.data])
    devices = _asked_for(plan.devices, read.curves)
    further = _training(wanted) if needs_training else CurveData(())
    _check_known(plan.methods, (*read.curves, *further.curves))
    _say([*read.notes, *further.notes])
    note(
        f"computing the features of {counted(len({c.kernel for c in (*read.curves, *further.curves)}), 'kernel')}"
    )
    counts_work = any(entrant(name).reads_work for name in plan.methods)
    data = examples_of(read.curves, wanted.kernels, processors(), counts_work)
    more = examples_of(further.curves, wanted.kernels, processors())
    _say([*data.notes, *more.notes])
    return EvaluationData(data.examples, more.examples, {**_published(), **read.predicted}, devices)


def _asked_for(devices: Iterable[str], curves: Iterable[Curve]) -> tuple[str, ...]:
    """The devices by the names that the data has for them; upper and lower case are alike."""
    names = dict.fromkeys(curve.device for curve in curves)
    alike = {name.casefold(): name for name in names} | {name: name for name in names}
    for device in devices:
        if device not in alike and device.casefold() not in alike:
            raise InvalidInputError(f"the data has nothing of a device '{device}'; it has {', '.join(names)}")
    return tuple(alike.get(device) or alike[device.casefold()] for device in devices)


def _check_known(methods: Iterable[str], curves: Iterable[Curve]) -> None:
    """Refuse a method that learns from all devices where one has no figures that tell it from others."""
    pooling = [name for name in methods if entrant(name).pools]
    unknown = [curve.device for curve in curves if curve.device not in DEVICE_DESCRIPTORS]
    if pooling and unknown:
        known = ", ".join(DEVICE_DESCRIPTORS)
        raise InvalidInputError(
            f"the {pooling[0]} model does not know the device '{unknown[0]}', it knows {known}; "
            "name the other models with --model"
        )


def _training(wanted: DataRequest) -> CurveData:
    sources = [source for source in wanted.training if source != NOTHING]
    if not wanted.training:
        sources = [str(path) for path in synthetic_files()]
        if not sources:
            note("there are no measurements of synthetic kernels to learn from besides")
    elif len(sources) not in (0, len(wanted.training)):
        raise InvalidInputError(f"--training {NOTHING} and --training FILE exclude each other")
    found = merged([read_curves(source, None, wanted.kernels) for source in sources])
    check_learnable((curve.kernel for curve in found.curves), wanted.kernels)
    return found


def synthetic_files() -> list[Path]:
    """Return the measurements of synthetic kernels that come with the package."""
    return [path for name, path in shipped_files().items() if name.startswith("synthetic_")]


def _published() -> Mapping[tuple[str, str], int]:
    table = read_table(PUBLISHED)
    return table.predicted if table is not None else {}


def _say(notes: Iterable[str]) -> None:
    for text in dict.fromkeys(notes):
        note(text)


def kernel_count(examples: Sequence[Example]) -> int:
    """Return the number of kernels that the examples are of."""
    return len({example.kernel for example in examples})
