"""The data that `coarsen evaluate` reads: the examples to evaluate on, and those to learn from besides."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from coarsen.base.processes import processors
from coarsen.cli.messages import note
from coarsen.cli.output import counted
from coarsen.errors import InvalidInputError
from coarsen.models.best_factors import PUBLISHED
from coarsen.models.evaluation.evaluation import Plan
from coarsen.models.examples import Example
from coarsen.opencl_bench.results.curves import Curve, CurveData, merged, read_table
from coarsen.opencl_bench.results.examples import examples_of
from coarsen.opencl_bench.results.launch_cases import check_learnable
from coarsen.opencl_bench.results.measured_curves import read_curves
from coarsen.opencl_bench.results.measured_rows import shipped_files


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


def read_data(wanted: DataRequest, plan: Plan) -> EvaluationData:
    """Read everything, and say what was left out.

    Args:
        wanted: which files.
        plan: the methods, and the devices that are asked for.

    Raises:
        InvalidInputError: a file can't be read; a kernel is not known; a device is not in the data.
    """
    read = merged([read_curves(source, wanted.preset, wanted.kernels) for source in wanted.data])
    devices = _asked_for(plan.devices, read.curves)
    further = _training(wanted) if plan.unseen else CurveData(())
    _say([*read.notes, *further.notes])
    note(
        f"computing the features of {counted(len({c.kernel for c in (*read.curves, *further.curves)}), 'kernel')}"
    )
    data = examples_of(read.curves, wanted.kernels, processors())
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


def _training(wanted: DataRequest) -> CurveData:
    sources = wanted.training or tuple(map(str, synthetic_files()))
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
