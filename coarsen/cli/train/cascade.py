"""`coarsen train --model cascade`: the cascade of one device, from best factors or from runtimes."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from coarsen.base.names import did_you_mean
from coarsen.cli.messages import note
from coarsen.cli.output import Format, counted, print_json, print_line, print_table
from coarsen.cli.predict.output import held_out_text
from coarsen.cli.progress import Fits, watching
from coarsen.errors import DeviceError, InvalidInputError
from coarsen.models.best_factors import CITATION, DEVICES, PUBLISHED
from coarsen.models.model_files import model_name
from coarsen.targets import target_of

if TYPE_CHECKING:
    from coarsen.cli.train.options import TrainOptions
    from coarsen.models.cascade.trained import TrainedModel
    from coarsen.models.cascade.training import Progress
    from coarsen.models.examples import Example
    from coarsen.opencl_bench.results.curves import CurveData


_METHODS = {
    "cascade": "the cascade, trained without the kernel that it predicts",
    "published": "what the authors of the table predicted",
    "unique": "one factor for every kernel: the one that is best for most of the others",
    "never": "no coarsening",
}
# The packages that training imports, by their names.
_LIBRARIES = {"torch": "PyTorch", "sklearn": "scikit-learn"}
# All folds at all seeds together: what seventeen kernels need at twenty seeds. More would take long.
_MOST_FITS = 400


@dataclass(frozen=True)
class _Learned:
    """The examples of a device, others' predictions by kernel, and where both are from."""

    examples: tuple[Example, ...]
    published: Mapping[str, int]
    sources: tuple[str, ...]


def check_libraries() -> None:
    """Refuse to start without the packages that are needed. Raises InvalidInputError."""
    for module, name in _LIBRARIES.items():
        if importlib.util.find_spec(module) is None:
            raise InvalidInputError(f"training needs {name}: pip install 'coarsen[train]'")


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
    from coarsen.opencl_bench.results.examples import examples_of

    name, data, sources = curves_of(device, wanted)
    curves = [curve for curve in data.curves if curve.device == name and curve.dimension == wanted.dim]
    if not curves:
        raise InvalidInputError(f"no kernel was coarsened along dimension {wanted.dim} on {name}")
    note(f"computing the features of {counted(len({curve.kernel for curve in curves}), 'kernel')}")
    found = examples_of(curves, wanted.kernels, processors())
    for text in dict.fromkeys((*data.notes, *found.notes)):
        note(text)
    renamed = tuple(replace(example, device=model_name(_own_name(device, name))) for example in found.examples)
    return _Learned(renamed, data.predicted_on(name), sources)


def curves_of(device: str, wanted: TrainOptions) -> tuple[str, CurveData, tuple[str, ...]]:
    """Return what is learned from: the name of the device in the data, the data, and in words where it is from.

    Raises:
        DeviceError: there is no data, and nothing is known of the device without.
        InvalidInputError: the data can't be read, or has nothing of the device.
    """
    # Imported late: only training needs the suite.
    from coarsen.opencl_bench.results.curves import merged
    from coarsen.opencl_bench.results.measured_curves import read_curves

    if wanted.data:
        data = merged([read_curves(source, None, wanted.kernels) for source in wanted.data])
        return _name_in(device, data), data, tuple(Path(source).name for source in wanted.data)
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
    from coarsen.cli.evaluate.data import synthetic_files

    return tuple(path.stem.removeprefix("synthetic_") for path in synthetic_files())


def _own_name(device: str, found: str) -> str:
    """The name of the model: the device's in the data, or the user's for one that nothing else is known of."""
    same = {device.strip().casefold(), _known_name(device).casefold()}
    return found if found.casefold() in same or _is_known(device) else device.strip()


def _is_known(device: str) -> bool:
    """Return True of a device that is here, or that is known without being here."""
    try:
        target_of(device)
    except DeviceError:
        return device.strip().casefold() in _measured_devices()
    return True


def _name_in(device: str, data: CurveData) -> str:
    """The data's name of a device. Raises InvalidInputError where it has nothing of it."""
    names = dict.fromkeys(curve.device for curve in data.curves)
    alike = {name.casefold(): name for name in names} | {name: name for name in names}
    for wanted in (device.strip(), device.strip().casefold(), _known_name(device)):
        if wanted in alike:
            return alike[wanted]
    if len(names) == 1 and not _is_known(device):
        (only,) = names
        note(f"the data is of {only}: it is taken for that of {device.strip()}")
        return only
    raise InvalidInputError(
        f"the data has nothing of a device '{device}'{did_you_mean(device, names)}; it has {', '.join(names)}"
    )


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
    from coarsen.models.cascade.trained import chosen_factors, device_name, evaluation_card

    device, evaluation = trained.model.name, trained.evaluation
    chosen = {name: chosen_factors(evaluation, name) for name in evaluation.on(device)}
    full = device_name(device)
    named = device if full == device else f"{device} ({full})"
    print_line(f"{named}: the best factor of each kernel, and what each method predicts without having seen it")
    print_line()
    rows = [
        [outcome.example.kernel, str(outcome.example.best_factor)]
        + [_factors(factors[outcome.example.kernel]) for factors in chosen.values()]
        for outcome in evaluation.outcomes["never"]
    ]
    print_table(["kernel", "best", *chosen], rows, numbers=["best", *chosen])
    seeds = len({outcome.seed for outcome in evaluation.on(device)["cascade"]})
    if any(len(counts) > 1 for counts in chosen["cascade"].values()):
        print_line(f"4 (15/{seeds}): 15 of {seeds} trainings, each from other initial weights, predict factor 4")
    print_line()
    _print_scores(trained)
    print_line()
    print_line(f"Verdict: {held_out_text(evaluation_card(evaluation, device))}")
    print_line(f"stored in {' and '.join(map(str, paths))}")
    if _is_shipped(paths):
        print_line("These are, to the last byte, the files that come with the package")


def _is_shipped(paths: Sequence[Path]) -> bool:
    """Return True if the package comes with files of these names and contents."""
    from coarsen.models.cascade.storage import SHIPPED

    own = [SHIPPED / path.name for path in paths]
    return all(each.is_file() for each in own) and all(
        path.read_bytes() == each.read_bytes() for path, each in zip(paths, own, strict=True)
    )


def _factors(counts: Mapping[int, int]) -> str:
    """The factor that most seeds chose, the smaller of equals, and how many did unless all."""
    factor = max(counts, key=lambda factor: (counts[factor], -factor))
    return str(factor) if len(counts) == 1 else f"{factor} ({counts[factor]}/{sum(counts.values())})"


def _print_scores(trained: TrainedModel) -> None:
    """The scores of each method; speed-ups too where runtimes are known."""
    device, evaluation = trained.model.name, trained.evaluation
    gains = evaluation.speedup_scores(device)
    headings = ["method", "best factor found", "at most one doubling off", "doublings off, mean"]
    headings += ["geometric mean", "worst"] if gains else []
    rows = []
    for method, score in evaluation.hit_scores(device).items():
        found = (f"{count:.3g} of {score.cases}" for count in (score.exact, score.within_one_doubling))
        row = [method, *found]
        row.append(f"{score.mean_error:.2f}")
        if gains:
            gain = gains.get(method)
            row += [f"{gain.geometric_mean:.3f}", f"{gain.worst:.2f}"] if gain else ["", ""]
        rows.append([*row, _METHODS.get(method, "")])
    print_table([*headings, ""], rows, numbers=headings[1:])
