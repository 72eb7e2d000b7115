"""`coarsen train`: a device's cascade, or the launch model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from coarsen.cli.options import Dimension, OutputFormat, checked_dimension, existing_folder, prepared_folder
from coarsen.cli.output import Format, print_line
from coarsen.errors import InvalidInputError
from coarsen.user_models import ModelName, answering_model, user_models

Device = Annotated[
    str | None,
    typer.Option("-d", "--device", metavar="NAME", help="Whose cascade to train, tahiti for example."),
]
Model = Annotated[
    ModelName,
    typer.Option("-m", "--model", help="A device's published cascade (PACT 2014), or the launch model."),
]
Data = Annotated[
    list[str] | None,
    typer.Option(
        "--data",
        metavar="FILE",
        help="What is learned from: runtimes (.csv: kernel,factor,DEVICE_ns,…), results (.parquet, .json, "
        ".jsonl), a store, a sweep that comes along, synthetic_intel for example, or for the cascade best factors "
        "(.csv: kernel,device,best_factor). May be repeated.  [default: what was published of the cascade's "
        "device; else the synthetic kernels' measurements]",
    ),
]
Kernels = Annotated[
    Path | None,
    typer.Option(
        "--kernels",
        metavar="FOLDER",
        help="Descriptions (NAME.toml) of kernels that are not the suite's.",
    ),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "-o", "--output", metavar="FOLDER", help="Store the model there.  [default: the user's data folder]"
    ),
]
Seed = Annotated[
    int,
    typer.Option("--seed", metavar="NUMBER", min=0, help="Seed of the networks' first weights, or the trees."),
]


def train(
    device: Device = None,
    model: Model = ModelName.CASCADE,
    data: Data = None,
    kernels: Kernels = None,
    dim: Dimension = 0,
    output: Output = None,
    seed: Seed = 0,
    output_format: OutputFormat = Format.TABLE,
) -> None:
    """Train a predictor, print its evaluation and store it, where `coarsen predict` takes it from.

    A device's cascade learns from runtimes or best factors of any kernels on it. Without --data these are the best
    factors of the seventeen benchmark kernels, published for fermi, kepler, cypress and tahiti; for other devices
    what the package has measured of its synthetic kernels. The launch model learns from measured launches, best
    with the calibration set among them.

    A model you train replaces the shipped one; `coarsen predict --shipped` ignores it. With --output it doesn't:
    `coarsen predict --models FOLDER` takes it. A cascade answers without --model for fermi, kepler, cypress and
    tahiti, and for a device that nothing else is known of.

    Example: coarsen train --device fermi --data runtimes.csv

    Example: coarsen train --model launch --data launches.sqlite --output models
    """
    folder, described, sources = output or user_models(), existing_folder("--kernels", kernels), tuple(data or ())
    if model is ModelName.LAUNCH:
        _refuse_for_launch_model({"--device": device, "--dim": dim})
        # Imported late: it loads the suite.
        from coarsen.cli.train.launch import LaunchTraining, train_launch_model

        with prepared_folder(folder):
            train_launch_model(LaunchTraining(sources, folder, seed, described), output_format)
    else:
        from coarsen.cli.train.cascade import CascadeTraining, check_libraries, train_cascade

        if device is None:
            raise InvalidInputError("give the cascade's --device, or --model launch for the model of all devices")
        wanted = CascadeTraining(device, sources, described, folder, checked_dimension(dim), seed)
        check_libraries()
        with prepared_folder(folder):
            train_cascade(wanted, output_format)
    if output_format is not Format.JSON:
        print_line(_how_to_use(model, device, output))


def _refuse_for_launch_model(options: Mapping[str, object]) -> None:
    for name, value in options.items():
        if value:
            raise InvalidInputError(f"{name} is not for the launch model")


def _how_to_use(model: ModelName, device: str | None, output: Path | None) -> str:
    where = f" --device {device}" if device else ""
    answers = device is None or answering_model(device, output) is model
    asked = "" if answers else f" --model {model.value}"
    if output is None:
        call = f"`coarsen predict KERNEL{where}{asked}`"
        why = "" if answers else "; without --model the launch model answers, which learned from launches of it"
        return f"{call} takes it from now on; with --shipped, that of the package{why}"
    return f"`coarsen predict KERNEL{where}{asked} --models {output}` takes it"
