"""`coarsen train --model cascade`: the cascade of one device, from best factors or from runtimes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from coarsen.cli.evaluate.report import name_in, print_choices, print_hits, print_speedups, synthetic_files
from coarsen.cli.messages import note
from coarsen.cli.output import Format, counted, print_json, print_line, print_lines
from coarsen.cli.predict.output import held_out_text
from coarsen.cli.progress import Fits, watching
from coarsen.errors import DeviceError, InvalidInputError
from coarsen.models.device_descriptors import CITATION, DEVICES, PUBLISHED
from coarsen.models.model_files import model_name
from coarsen.targets import target_of

if TYPE_CHECKING:
    from coarsen.cli.train.options import TrainOptions
    from coarsen.models.cascade.trained import TrainedModel
    from coarsen.models.cascade.training import Progress
    from coarsen.models.examples import Example
    from coarsen.opencl_bench.results.measured_curves import CurveData


_METHODS = {
    "cascade": "the cascade, trained without the kernel that it predicts",
    "cautious": "the cascade with --risk cautious: 1 where one of its steps is doubtful",
    "published": "what the authors of the table predicted",
    "unique": "one factor for every kernel: the one that is best for most of the others",
    "never": "no coarsening",
}
# All folds at all seeds together: what seventeen kernels need at twenty seeds. More would take long.
_MOST_FITS = 400


@dataclass(frozen=True)
class _Learned:
    """The examples of a device, others' predictions by kernel, and where both are from."""

    examples: tuple[Example, ...]
    published: Mapping[str, int]
    sources: tuple[str, ...]


def train_cascade(wanted: TrainOptions, device: str) -> TrainedModel:
    """Fit a device's cascade, print how good the method is on kernels held out, and store it.

    Without data it learns from table 5 for its four GPUs, for others from the package's own measurements of
    synthetic kernels.

    Raises:
        DeviceError: nothing is known of the device.
        InvalidInputError: a file can't be read or has nothing of the device; a folder can't be written.
    """
    learned = _learned(wanted, device)
    note(f"training on {counted(len(learned.examples), 'kernel')}, and again without each of them")
    with watching(Fits()) as fits:
        trained, paths = _train_and_save(learned, wanted, partial(fits, "training"))
    if wanted.output_format is Format.JSON:
        print_json(_as_data(trained, paths))
    else:
        _print(trained, paths)
    return trained


def _learned(wanted: TrainOptions, device: str) -> _Learned:
    # Imported late: only training needs the suite.
    from coarsen.base.processes import processors
    from coarsen.opencl_bench.results.measured_curves import examples_of

    name, data, sources = curves_of(device, wanted)
    curves = [curve for curve in data.curves if curve.device == name and curve.dimension == wanted.dim]
    if not curves:
        raise InvalidInputError(f"no kernel was coarsened along dimension {wanted.dim} on {name}")
    note(f"computing the features of {counted(len({curve.kernel for curve in curves}), 'kernel')}")
    found = examples_of(curves, wanted.kernels, processors())
    for text in dict.fromkeys((*data.notes, *found.notes)):
        note(text)
    renamed = tuple(replace(example, device=model_name(name)) for example in found.examples)
    return _Learned(renamed, data.predicted_on(name), sources)


def curves_of(device: str, wanted: TrainOptions) -> tuple[str, CurveData, tuple[str, ...]]:
    """Return what is learned from: the name of the device in the data, the data, and in words where it is from.

    Raises:
        DeviceError: there is no data, and nothing is known of the device without.
        InvalidInputError: the data can't be read, or has nothing of the device.
    """
    # Imported late: only training needs the suite.
    from coarsen.opencl_bench.results.measured_curves import merged, read_curves

    if wanted.data:
        data = merged([read_curves(source, None, wanted.kernels) for source in wanted.data])
        name = name_in(data.curves, device.strip(), _known_name(device))
        return name, data, tuple(Path(source).name for source in wanted.data)
    name = _known_name(device)
    if name in DEVICES:
        return name, read_curves(str(PUBLISHED)), (CITATION,)
    source = f"synthetic_{name}"
    known = _measured_devices()
    if name not in known:
        raise DeviceError(
            f"nothing is known of '{device}': give its runtimes or best factors with --data FILE; without, "
            f"there are: {', '.join(sorted((*DEVICES, *known)))}"
        )
    return name, read_curves(source), (f"{source}.parquet",)


def _known_name(device: str) -> str:
    """The short name of a device that is known without data; the device's own where there is none of it."""
    name = device.strip().casefold()
    if name in DEVICES or name in _measured_devices():
        return name
    try:
        return target_of(device).descriptor.name
    except DeviceError:
        return name


def _measured_devices() -> tuple[str, ...]:
    """The devices on which the package's synthetic kernels were measured."""
    return tuple(path.stem.removeprefix("synthetic_") for path in synthetic_files())


def _train_and_save(
    learned: _Learned, wanted: TrainOptions, progress: Progress
) -> tuple[TrainedModel, tuple[Path, ...]]:
    # Imported late: they load PyTorch.
    from coarsen.models.cascade.trained import EVALUATION_SEEDS, save_model, train_device

    families = {example.family for example in learned.examples}
    seeds = max(1, min(EVALUATION_SEEDS, _MOST_FITS // len(families)))
    trained = train_device(learned.examples, wanted.seed, learned.published, seeds, learned.sources, progress)
    return trained, save_model(trained, wanted.folder)


def _as_data(trained: TrainedModel, paths: Sequence[Path]) -> object:
    from coarsen.models.cascade.trained import evaluation_card

    card = evaluation_card(trained.evaluation, trained.model.name)
    verdict = held_out_text(card)
    return {"device": trained.model.name, **card, "held_out": verdict, "stored": [str(path) for path in paths]}


def _print(trained: TrainedModel, paths: Sequence[Path]) -> None:
    from coarsen.models.cascade.trained import device_name, evaluation_card

    device, evaluation = trained.model.name, trained.evaluation
    full = device_name(device)
    named = device if full == device else f"{device} ({full})"
    print_line(f"{named}: the best factor of each kernel, and what each method predicts without having seen it")
    print_choices(evaluation, device)
    print_line("~: not all trainings, each from other initial weights, predict this factor")
    print_hits(named, evaluation.hit_scores(device))
    if evaluation.is_measured(device):
        print_speedups(named, evaluation.speedup_scores(device))
    print_line()
    print_lines(*(f"{name}: {_METHODS[name]}" for name in evaluation.on(device) if name in _METHODS))
    print_line()
    print_line(f"Verdict: {held_out_text(evaluation_card(evaluation, device))}")
    print_line(f"stored in {' and '.join(map(str, paths))}")
