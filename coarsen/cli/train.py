"""`coarsen train`: a device's cascade, trained on published best factors, or the default model of all devices."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs

from coarsen.cli.folders import existing_folder, prepared_folder
from coarsen.cli.messages import note
from coarsen.cli.options import OutputFormat
from coarsen.cli.output import Format, print_json, print_line, print_table
from coarsen.cli.predict_options import ModelName
from coarsen.cli.train_options import BestFactors, Data, Device, Evaluation, Kernels, Model, Output, Seed
from coarsen.errors import DeviceError, InvalidInputError
from coarsen.models.best_factors import DEVICES, PUBLISHED

if TYPE_CHECKING:
    from coarsen.models.cascade.trained import TrainedModel
    from coarsen.models.examples import Example

_METHODS = {
    "cascade": "the cascade, on kernels it was not trained on",
    "published": "what the authors of the table predicted",
    "unique": "the most common best factor, for every kernel",
    "never": "no coarsening",
}
# The packages that training imports, by their names.
_LIBRARIES = {"torch": "PyTorch", "sklearn": "scikit-learn"}


def train(
    device: Device = None,
    model: Model = ModelName.CASCADE,
    data: Data = None,
    best_factors: BestFactors = None,
    kernels: Kernels = None,
    evaluation: Evaluation = None,
    output: Output = None,
    seed: Seed = 0,
    output_format: OutputFormat = Format.TABLE,
) -> None:
    """Train a predictor, print its evaluation and store it.

    The cascade of a device learns from the best factors of the seventeen benchmark kernels, published for fermi,
    kepler, cypress and tahiti. The default model learns from whole curves, measured on any devices.
    `coarsen predict --models FOLDER` uses the stored model.

    Example: coarsen train --device tahiti --output models

    Example: coarsen train --model default --data results.parquet --output models
    """
    folder = output or platformdirs.user_data_path("coarsen") / "models"
    if model is ModelName.CASCADE:
        learned_from = {"--data": data, "--best-factors": best_factors, "--kernels": kernels}
        _refuse({**learned_from, "--evaluation": evaluation}, "is for --model default")
        _train_cascade(_published_device(device), folder, seed, output_format)
        return
    _refuse({"--device": device}, "is for the cascade: the default model is one for all devices")
    # Imported late: it loads the suite, which the cascade's bad input does without.
    from coarsen.cli.train_default import DefaultTraining, check_training, train_default

    described = existing_folder("--kernels", kernels)
    wanted = DefaultTraining(tuple(data or ()), folder, seed, best_factors, described, evaluation)
    check_training(wanted)
    with prepared_folder(folder):
        train_default(wanted, output_format)


def _refuse(options: Mapping[str, object], why: str) -> None:
    """Refuse the options that were given, though they mean nothing to the model."""
    for name, value in options.items():
        if value:
            raise InvalidInputError(f"{name} {why}")


def _published_device(device: str | None) -> str:
    if device is None:
        raise InvalidInputError("give the cascade's --device, or --model default for the model of all devices")
    name = device.strip().casefold()
    if name not in DEVICES:
        raise DeviceError(f"no best factors are known for '{device}'; devices: {', '.join(sorted(DEVICES))}")
    return name


def _train_cascade(name: str, folder: Path, seed: int, output_format: Format) -> None:
    _check_libraries()
    with prepared_folder(folder):
        note("lowering the benchmark kernels and computing their features")
        examples, published = _examples(name)
        note(f"training on {len(examples)} kernels")
        trained, paths = _train_and_save(examples, published, seed, folder)
    if output_format is Format.JSON:
        print_json(_as_data(trained, paths))
    else:
        _print(trained, paths)


def _check_libraries() -> None:
    for module, name in _LIBRARIES.items():
        if importlib.util.find_spec(module) is None:
            raise InvalidInputError(f"training needs {name}: pip install 'coarsen[train]'")


def _examples(device: str) -> tuple[tuple[Example, ...], dict[str, int]]:
    """The kernels of the published table on a device, and the factors that its authors predicted."""
    # Imported late: only training needs the suite.
    from coarsen.opencl_bench.results.curve_files import read_curves
    from coarsen.opencl_bench.results.curves import on_devices
    from coarsen.opencl_bench.results.examples import examples_of

    table = read_curves(str(PUBLISHED))
    return examples_of(on_devices(table.curves, [device])).examples, table.predicted_on(device)


def _train_and_save(
    examples: tuple[Example, ...], published: Mapping[str, int], seed: int, folder: Path
) -> tuple[TrainedModel, tuple[Path, ...]]:
    # Imported late: they load PyTorch.
    from coarsen.models.cascade.saving import save_model
    from coarsen.models.cascade.trained import train_device

    trained = train_device(examples, seed, published)
    return trained, save_model(trained, folder)


def _as_data(trained: TrainedModel, paths: tuple[Path, ...]) -> object:
    from coarsen.models.cascade.model_card import evaluation_card

    card = evaluation_card(trained.evaluation, trained.model.name)
    return {"device": trained.model.name, **card, "stored": [str(path) for path in paths]}


def _print(trained: TrainedModel, paths: tuple[Path, ...]) -> None:
    from coarsen.models.cascade.trained import chosen_factors

    device, evaluation = trained.model.name, trained.evaluation
    chosen = {name: chosen_factors(evaluation, name) for name in evaluation.on(device)}
    print_line(f"{device} ({DEVICES[device]}): best factor of each kernel, and predicted by each method")
    print_line()
    rows = [
        [outcome.example.kernel, str(outcome.example.best_factor)]
        + [_factors(factors[outcome.example.kernel]) for factors in chosen.values()]
        for outcome in evaluation.outcomes["never"]
    ]
    print_table(["kernel", "best", *chosen], rows, numbers=["best", *chosen])
    print_line()
    headings = ["method", "exact", "within one step", "mean error, doublings", ""]
    print_table(headings, _score_rows(trained), numbers=headings[1:4])
    print_line()
    print_line(f"stored in {' and '.join(map(str, paths))}")


def _factors(counts: Mapping[int, int]) -> str:
    """The factor that most seeds chose, the smaller of equals, and how many did unless all."""
    factor = max(counts, key=lambda factor: (counts[factor], -factor))
    return str(factor) if len(counts) == 1 else f"{factor} ({counts[factor]}/{sum(counts.values())})"


def _score_rows(trained: TrainedModel) -> list[list[str]]:
    return [
        [
            method,
            f"{score.exact:.3g}/{score.cases}",
            f"{score.within_one_doubling:.3g}/{score.cases}",
            f"{score.mean_error:.2f}",
            _METHODS.get(method, ""),
        ]
        for method, score in trained.evaluation.hit_scores(trained.model.name).items()
    ]
