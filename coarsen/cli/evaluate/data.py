"""The data that `coarsen evaluate` reads: the examples to evaluate on, and those to learn from besides."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from coarsen.base.names import did_you_mean
from coarsen.base.processes import processors
from coarsen.cli.messages import note
from coarsen.cli.output import counted
from coarsen.errors import InvalidInputError
from coarsen.models.best_factors import PUBLISHED
from coarsen.models.evaluation.evaluation import Plan
from coarsen.models.examples import Curve, Example
from coarsen.models.held_out import refuse_judge
from coarsen.opencl_bench.results.examples import examples_of
from coarsen.opencl_bench.results.measured_curves import CurveData, merged, read_curves, read_table
from coarsen.opencl_bench.results.measured_rows import shipped_files

if TYPE_CHECKING:
    from coarsen.cli.evaluate.options import EvaluateOptions


@dataclass(frozen=True)
class EvaluationData:
    """Examples to evaluate on, examples to learn from besides, and others' predictions by kernel and device.

    `devices` are those that were asked for, as the data calls them.
    """

    data: tuple[Example, ...]
    further: tuple[Example, ...]
    published: Mapping[tuple[str, str], int]
    devices: tuple[str, ...] = ()


def read_data(asked: EvaluateOptions, plan: Plan) -> EvaluationData:
    """Read everything, and say what was left out.

    Args:
        asked: which files; the synthetic kernels' where no `--training` is given.
        plan: the methods, and the devices that are asked for.

    Raises:
        InvalidInputError: a file can't be read; a kernel is not known; a device is not in the data.
    """
    read = merged([read_curves(source, asked.preset, asked.kernels) for source in asked.data])
    devices = tuple(name_in(read.curves, device) for device in plan.devices)
    further = _training(asked) if plan.unseen else CurveData(())
    _say([*read.notes, *further.notes])
    note(
        f"computing the features of {counted(len({c.kernel for c in (*read.curves, *further.curves)}), 'kernel')}"
    )
    data = examples_of(read.curves, asked.kernels, processors())
    more = examples_of(further.curves, asked.kernels, processors())
    _say([*data.notes, *more.notes])
    return EvaluationData(data.examples, more.examples, {**_published(), **read.predicted}, devices)


def name_in(curves: Iterable[Curve], *words: str) -> str:
    """Return the first of some names that the data has for a device; upper and lower case are alike.

    Raises InvalidInputError where it has none of them.
    """
    names = dict.fromkeys(curve.device for curve in curves)
    alike = {name.casefold(): name for name in names} | {name: name for name in names}
    for word in words:
        found = alike.get(word) or alike.get(word.casefold())
        if found is not None:
            return found
    near = did_you_mean(words[0], names)
    raise InvalidInputError(f"the data has nothing of a device '{words[0]}'{near}; it has {', '.join(names)}")


def _training(asked: EvaluateOptions) -> CurveData:
    sources = asked.training or [*map(str, synthetic_files())]
    found = merged([read_curves(source, None, asked.kernels) for source in sources])
    refuse_judge(curve.kernel for curve in found.curves)
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
