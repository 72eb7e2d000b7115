"""`coarsen train`: a device's predictor, trained on published best factors, evaluated and stored."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import platformdirs
import typer

from coarsen.cli.messages import note
from coarsen.cli.options import DeviceName, OutputFormat
from coarsen.cli.output import Format, print_json, print_line, print_table
from coarsen.errors import DeviceError, InvalidInputError
from coarsen.features import FeatureTable, feature_table
from coarsen.frontend.lower import lower
from coarsen.models.best_factors import DEVICES, BestFactors, read_best_factors
from coarsen.models.evaluation import Evaluation

_METHODS = {
    "cascade": "the cascade, on kernels it was not trained on",
    "published": "what the authors of the table predicted",
    "unique": "the most common best factor, for every kernel",
    "never": "no coarsening",
}

Output = Annotated[
    Path | None,
    typer.Option(
        "-o", "--output", metavar="FOLDER", help="Store the model there.  [default: the user's data folder]"
    ),
]
Seed = Annotated[int, typer.Option("--seed", metavar="NUMBER", min=0, help="Seed of the networks' first weights.")]


def train(
    device: DeviceName, output: Output = None, seed: Seed = 0, output_format: OutputFormat = Format.TABLE
) -> None:
    """Train a device's predictor, print its evaluation by leave-one-out and store it.

    It learns from the best factors of the seventeen benchmark kernels, published for the devices fermi,
    kepler, cypress and tahiti. `coarsen predict --models FOLDER` uses the stored model.

    Example: coarsen train --device tahiti --output models
    """
    name = device.strip().casefold()
    if name not in DEVICES:
        raise DeviceError(f"no best factors are known for '{device}'; devices: {', '.join(sorted(DEVICES))}")
    if importlib.util.find_spec("torch") is None:
        raise InvalidInputError("training needs PyTorch: pip install 'coarsen[train]'")
    folder = _checked_folder(output or platformdirs.user_data_path("coarsen") / "models")
    known = read_best_factors(name)
    note("lowering the benchmark kernels and computing their features")
    tables = dict(_feature_tables(known))
    note(f"training on {len(tables)} kernels")
    evaluation, paths = _train_and_save(known, tables, seed, folder)
    if output_format is Format.JSON:
        print_json(_as_data(name, evaluation, paths))
    else:
        _print(name, evaluation, paths)


def _train_and_save(
    known: BestFactors, tables: Mapping[str, FeatureTable], seed: int, folder: Path
) -> tuple[Evaluation, tuple[Path, ...]]:
    # Imported late: they load PyTorch, which may not be installed.
    from coarsen.models.saving import save_model
    from coarsen.models.train import train_device

    trained = train_device(known.device, tables, known.best, seed, known.published_prediction)
    return trained.evaluation, save_model(trained, folder)


def _feature_tables(known: BestFactors) -> Iterator[tuple[str, FeatureTable]]:
    # Imported late: only training needs the suite.
    from coarsen.opencl_bench.suite import SUITE

    for name, benchmark in SUITE.items():
        if name in known.best:
            kernel = lower(benchmark.kernel_file, benchmark.kernel, benchmark.build_options)
            yield name, feature_table(kernel)


def _checked_folder(folder: Path) -> Path:
    """The folder, made if need be: training takes long enough to find out first."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInputError(f"{folder}: can't be written: {error.strerror}") from None
    return folder


def _as_data(device: str, evaluation: Evaluation, paths: tuple[Path, ...]) -> object:
    return {
        "device": device,
        "best": dict(evaluation.best),
        "predicted": {method: dict(factors) for method, factors in evaluation.predicted.items()},
        "scores": {method: asdict(evaluation.score(method)) for method in evaluation.methods},
        "stored": [str(path) for path in paths],
    }


def _print(device: str, evaluation: Evaluation, paths: tuple[Path, ...]) -> None:
    methods = list(evaluation.methods)
    print_line(f"{device} ({DEVICES[device]}): best factor of each kernel, and predicted by each method")
    print_line()
    rows = [
        [kernel, str(best), *(str(evaluation.predicted[method][kernel]) for method in methods)]
        for kernel, best in evaluation.best.items()
    ]
    print_table(["kernel", "best", *methods], rows, numbers=["best", *methods])
    print_line()
    headings = ["method", "exact", "within one step", "mean error, doublings", ""]
    print_table(headings, (_score_row(evaluation, method) for method in methods), numbers=headings[1:4])
    print_line()
    print_line(f"stored in {' and '.join(map(str, paths))}")


def _score_row(evaluation: Evaluation, method: str) -> list[str]:
    score = evaluation.score(method)
    return [
        method,
        f"{score.exact}/{score.kernels}",
        f"{score.within_one_step}/{score.kernels}",
        f"{score.mean_absolute_log2_error:.2f}",
        _METHODS.get(method, ""),
    ]
