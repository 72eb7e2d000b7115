"""`coarsen train --model default`: the default model of all devices, fitted, judged out of bag and stored."""

from __future__ import annotations

import datetime
import importlib.util
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from coarsen.cli.evaluate_data import NOTHING, synthetic_files
from coarsen.cli.messages import note
from coarsen.cli.output import Format, counted, print_json, print_line, print_table
from coarsen.errors import InvalidInputError
from coarsen.files import read_file
from coarsen.models.best_factors import PUBLISHED

if TYPE_CHECKING:
    from coarsen.models.default.training import Fitted
    from coarsen.models.evaluation.outcome import Outcome
    from coarsen.models.examples import Example

_PUBLISHED_NAME = "the best factors of PACT 2014, table 5"


@dataclass(frozen=True)
class DefaultTraining:
    """The models to fit, and where they go.

    Args:
        data: files or stores of measured curves; the package's own measurements of synthetic kernels if empty.
        folder: where the model is stored.
        seed: of the forest.
        best_factors: a table of best factors for devices that were not measured: table 5 if None, none if `none`.
        kernels: a folder with the descriptions (NAME.toml) of kernels that are not the suite's.
        evaluation: a JSON file that `coarsen evaluate -f json` wrote, for the card.
        date: for the card, as YYYY-MM-DD; today's if None.
    """

    data: tuple[str, ...]
    folder: Path
    seed: int = 0
    best_factors: str | None = None
    kernels: Path | None = None
    evaluation: Path | None = None
    date: str | None = None


def train_default(wanted: DefaultTraining, output_format: Format) -> None:
    """Fit the default model, print how good it is on its training kernels out of bag, and store it.

    Raises:
        InvalidInputError: nothing to learn from, a file that can't be read, or a folder that can't be written.
    """
    sources = _sources(wanted)
    evaluation = _evaluation(wanted.evaluation)
    examples = _examples(wanted, sources)
    fitted, outcomes = _fit(examples, wanted.seed)
    card = {"out_of_bag": _out_of_bag_card(outcomes), **evaluation}
    paths = _save(fitted, examples, wanted, sources, card)
    if output_format is Format.JSON:
        print_json({"model": "default", **card, "stored": [str(path) for path in paths]})
    else:
        _print(fitted, outcomes, paths)


def check_training(wanted: DefaultTraining) -> None:
    """Refuse to start without data or the packages that are needed. Raises InvalidInputError."""
    check_packages(_sources(wanted))


def check_packages(sources: Iterable[str]) -> None:
    """Refuse to start without the packages that training on files needs. Raises InvalidInputError."""
    if importlib.util.find_spec("sklearn") is None:
        raise InvalidInputError("training needs scikit-learn: pip install 'coarsen[train]'")
    tables = all(source.lower().endswith(".csv") for source in sources)
    if not tables and importlib.util.find_spec("pyarrow") is None:
        raise InvalidInputError("reading measurements needs more packages: pip install 'coarsen[bench]'")


def _sources(wanted: DefaultTraining) -> tuple[str, ...]:
    sources = wanted.data or tuple(map(str, synthetic_files()))
    if not sources:
        raise InvalidInputError("there are no measured curves to learn from; give some with --data FILE")
    return sources


def _evaluation(path: Path | None) -> Mapping[str, object]:
    if path is None:
        return {}
    try:
        found = json.loads(read_file(path))
    except ValueError as error:
        raise InvalidInputError(f"{path}: is not JSON ({error})") from None
    if not isinstance(found, dict):
        raise InvalidInputError(f"{path}: is not what `coarsen evaluate --format json` printed")
    return {"evaluation": _without_cases(found)}


def _without_cases(found: object) -> object:
    """An evaluation's scores without what each kernel's choice was, and without the bins of its calibration."""
    if not isinstance(found, Mapping):
        return found
    return {key: _without_cases(value) for key, value in found.items() if key not in ("kernels", "bins")}


def _examples(wanted: DefaultTraining, sources: Sequence[str]) -> tuple[Example, ...]:
    # Imported late: only training and evaluation need the suite.
    from coarsen.opencl_bench.results.curves import merged
    from coarsen.opencl_bench.results.examples import examples_of
    from coarsen.opencl_bench.results.launch_cases import check_learnable
    from coarsen.opencl_bench.results.measured_curves import read_curves
    from coarsen.processes import processors

    data = merged([read_curves(source, None, wanted.kernels) for source in sources])
    measured = {curve.device for curve in data.curves if curve.speedup}
    table = str(PUBLISHED) if wanted.best_factors is None else wanted.best_factors
    known = () if table == NOTHING else read_curves(table, None, wanted.kernels).curves
    if any(curve.speedup for curve in known):
        raise InvalidInputError(
            f"{table}: --best-factors takes a table of kernel,device,best_factor; this has curves"
        )
    curves = (*data.curves, *(curve for curve in known if curve.device not in measured))
    check_learnable((curve.kernel for curve in curves), wanted.kernels)
    note(f"computing the features of {counted(len({curve.kernel for curve in curves}), 'kernel')}")
    found = examples_of(curves, wanted.kernels, processors())
    _say((*data.notes, *found.notes))
    return found.examples


def _fit(examples: Sequence[Example], seed: int) -> tuple[Fitted, tuple[Outcome, ...]]:
    # Imported late: they load scikit-learn.
    from coarsen.models.default.out_of_bag import out_of_bag_outcomes
    from coarsen.models.default.training import train
    from coarsen.processes import processors

    note(f"fitting the forest on {counted(sum(bool(example.speedup) for example in examples), 'curve')}")
    fitted = train(examples, seed, threads=processors())
    return fitted, out_of_bag_outcomes(fitted)


def _out_of_bag_card(outcomes: tuple[Outcome, ...]) -> Mapping[str, object]:
    from coarsen.models.default.out_of_bag import out_of_bag_card

    return out_of_bag_card(outcomes)


def _save(
    fitted: Fitted,
    examples: Sequence[Example],
    wanted: DefaultTraining,
    sources: Sequence[str],
    evaluation: Mapping[str, object],
) -> tuple[Path, Path]:
    from coarsen.models.default.provenance import provenance_of
    from coarsen.models.default.storage import save_default
    from coarsen.models.default.training import ForestSettings

    names = [Path(source).name for source in sources]
    if any(not example.speedup for example in examples):
        names.append(_PUBLISHED_NAME if wanted.best_factors is None else Path(wanted.best_factors).name)
    date = wanted.date or datetime.datetime.now(datetime.UTC).date().isoformat()
    provenance = provenance_of(examples, wanted.seed, ForestSettings(), date, names, evaluation)
    return save_default(fitted.model, provenance, wanted.folder)


def _print(fitted: Fitted, outcomes: tuple[Outcome, ...], paths: Sequence[Path]) -> None:
    from coarsen.models.default.out_of_bag import out_of_bag_calibration, out_of_bag_scores

    print_line("The training kernels, each predicted by the trees that never saw its family:")
    print_line()
    headings = ["device", "dimension", "curves", "geometric mean", "of oracle", "<0.95", "worst"]
    rows = [
        [
            device,
            str(dimension),
            str(score.cases),
            f"{score.geometric_mean:.3f}",
            f"{score.share_of_oracle:.1%}",
            f"{score.losses:.0f}",
            f"{score.worst:.2f}",
        ]
        for (device, dimension), score in out_of_bag_scores(outcomes).items()
    ]
    print_table(headings, rows, numbers=headings[1:])
    print_line()
    found = out_of_bag_calibration(outcomes)
    if found is not None:
        print_line(
            f"Probabilities that a step helps are off by {found.expected_calibration_error:.3f} on average "
            f"(Brier score {found.brier:.3f})"
        )
    for device, numbers in fitted.model.adjustments.items():
        print_line(
            f"{device}, from best factors: {numbers.scale:g} times the curve, {numbers.slope:+g} for each doubling"
        )
    print_line(f"stored in {' and '.join(map(str, paths))}")


def _say(notes: Iterable[str]) -> None:
    for text in dict.fromkeys(notes):
        note(text)
