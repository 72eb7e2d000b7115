"""`coarsen predict`: the factor for a device, the probability of each step of the cascade, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from coarsen.cli.kernel_input import lower_file, naming_file
from coarsen.cli.options import (
    BuildOptions,
    Definitions,
    DeviceName,
    Dimension,
    IncludeFolders,
    KernelFile,
    KernelName,
    OutputFormat,
    Standard,
    build_options,
    checked_dimension,
)
from coarsen.cli.output import Format, print_json, print_line, print_table
from coarsen.errors import DeviceError
from coarsen.models import CascadeModel, Contribution, Prediction, Step, available_models, load_model
from coarsen.prediction import model_for, predict_kernel

Models = Annotated[
    Path | None,
    typer.Option("--models", metavar="FOLDER", help="Use a model that `coarsen train` stored there."),
]


def predict(
    file: KernelFile,
    device: DeviceName,
    kernel: KernelName = None,
    dim: Dimension = 0,
    models: Models = None,
    define: Definitions = None,
    include: IncludeFolders = None,
    cl_std: Standard = None,
    build_option: BuildOptions = None,
    output_format: OutputFormat = Format.TABLE,
) -> None:
    """Predict the best coarsening factor of a kernel on a device, which need not be there.

    Example: coarsen predict sgemm.cl --device tahiti
    """
    dimension = checked_dimension(dim)
    model = model_for(device) if models is None else _model_in(models, device)
    lowered = lower_file(file, kernel, build_options(define, include, cl_std, build_option))
    with naming_file(file):
        prediction = predict_kernel(lowered, model, dimension)
    if output_format is Format.JSON:
        print_json({"kernel": lowered.name, "dimension": dimension, **asdict(prediction)})
    else:
        _print(lowered.name, dimension, prediction)


def _model_in(folder: Path, name: str) -> CascadeModel:
    known = available_models(folder)
    if name.casefold() not in known:
        raise DeviceError(f"there is no model of '{name}' in {folder}; models: {', '.join(known) or 'none'}")
    return load_model(name.casefold(), folder)


def _print(kernel: str, dimension: int, prediction: Prediction) -> None:
    print_line(f"kernel {kernel} on {prediction.model}, along dimension {dimension}: factor {prediction.factor}")
    print_line()
    headings = ["at factor", "coarsen further?", "probability", "learned from"]
    print_table(headings, map(_row, prediction.steps), numbers=("at factor", "probability"))
    print_line()
    for sentence in _reasons(prediction):
        print_line(sentence)


def _row(step: Step) -> Sequence[str]:
    answer = "yes" if step.coarsen_further else "no"
    return str(step.factor), answer, f"{step.probability:.2f}", f"{step.examples} kernels"


def _reasons(prediction: Prediction) -> list[str]:
    last = prediction.steps[-1]
    reasons = prediction.reasons()
    if not reasons:
        few = "the kernels that it learned from leave no choice, so it is the same for all kernels"
        return [f"Why the answer at factor {last.factor}: {few}."]
    return [f"What moved the answer at factor {last.factor} most:", *map(_reason, reasons)]


def _reason(contribution: Contribution) -> str:
    name = contribution.feature.replace("_", " ")
    direction = "for" if contribution.effect > 0 else "against"
    return f"  {name} {contribution.value:.4g}: {direction} coarsening further ({contribution.effect:+.2f})"
