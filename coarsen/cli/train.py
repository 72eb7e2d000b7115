"""`coarsen train`: a device's cascade, the default model of all devices, or the launch model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from coarsen.cli.options import Dimension, OutputFormat, checked_dimension, existing_folder, prepared_folder
from coarsen.cli.output import Format, print_line
from coarsen.cli.predict_options import ModelName
from coarsen.cli.train_options import (
    BestFactors,
    Data,
    Device,
    Evaluation,
    Kernels,
    Model,
    Output,
    Seed,
)
from coarsen.errors import InvalidInputError
from coarsen.models.cascade.settings import PUBLISHED, CascadeSettings

if TYPE_CHECKING:
    from coarsen.cli.train_cascade import CascadeTraining


def train(
    device: Device = None,
    model: Model = ModelName.CASCADE,
    data: Data = None,
    best_factors: BestFactors = None,
    kernels: Kernels = None,
    evaluation: Evaluation = None,
    dim: Dimension = 0,
    output: Output = None,
    seed: Seed = 0,
    output_format: OutputFormat = Format.TABLE,
) -> None:
    """Train a predictor, print its evaluation and store it, where `coarsen predict` takes it from.

    A device's cascade learns from runtimes or best factors of any kernels on it. Without --data these are the best
    factors of the seventeen benchmark kernels, published for fermi, kepler, cypress and tahiti; for other devices
    what the package has measured of its synthetic kernels. The default model learns from whole curves, measured on
    any devices, the launch model from measured launches, best with the calibration set among them.

    What is trained replaces the package's model from then on; `coarsen predict --shipped` passes it over. With
    --output it doesn't: `coarsen predict --models FOLDER` takes it. A cascade answers without --model for fermi,
    kepler, cypress and tahiti, and for a device that nothing else is known of.

    Example: coarsen train --device fermi --data runtimes.csv

    Example: coarsen train --model default --data results.parquet --output models
    """
    # Imported late: it loads the models.
    from coarsen.user_models import user_models

    folder = output or user_models()
    if model is ModelName.LAUNCH:
        _refuse({"--device": device, "--dim": dim}, "is not for the launch model")
        _refuse({"--best-factors": best_factors, "--evaluation": evaluation}, "is not for the launch model")
        # Imported late: it loads the suite.
        from coarsen.cli.train_launch import LaunchTraining, train_launch_model

        launches = LaunchTraining(tuple(data or ()), folder, seed, existing_folder("--kernels", kernels))
        with prepared_folder(folder):
            train_launch_model(launches, output_format)
    elif model is ModelName.CASCADE:
        _refuse({"--best-factors": best_factors, "--evaluation": evaluation}, "is for --model default")
        described = existing_folder("--kernels", kernels)
        place = folder, checked_dimension(dim)
        _train_cascade(_request(device, tuple(data or ()), described, place, seed, PUBLISHED), output_format)
    else:
        own = {"--device": device, "--dim": dim}
        _refuse(own, "is for the cascade: the default model is one for all devices")
        # Imported late: it loads the suite, which the cascade's bad input does without.
        from coarsen.cli.train_default import DefaultTraining, check_training, train_default

        described = existing_folder("--kernels", kernels)
        wanted = DefaultTraining(tuple(data or ()), folder, seed, best_factors, described, evaluation)
        check_training(wanted)
        with prepared_folder(folder):
            train_default(wanted, output_format)
    if output_format is not Format.JSON:
        print_line(_how_to_use(model, device, output))


def _refuse(options: Mapping[str, object], why: str) -> None:
    """Refuse the options that were given, though they mean nothing to the model."""
    for name, value in options.items():
        if value:
            raise InvalidInputError(f"{name} {why}")


def _request(
    device: str | None,
    data: tuple[str, ...],
    kernels: Path | None,
    place: tuple[Path, int],
    seed: int,
    settings: CascadeSettings,
) -> CascadeTraining:
    from coarsen.cli.train_cascade import CascadeTraining

    if device is None:
        raise InvalidInputError("give the cascade's --device, or --model default for the model of all devices")
    return CascadeTraining(device, data, kernels, *place, seed, settings)


def _train_cascade(wanted: CascadeTraining, output_format: Format) -> None:
    from coarsen.cli.train_cascade import check_libraries, train_cascade

    check_libraries()
    with prepared_folder(wanted.folder):
        train_cascade(wanted, output_format)


def _how_to_use(model: ModelName, device: str | None, output: Path | None) -> str:
    from coarsen.user_models import answers_by_cascade

    where = f" --device {device}" if device else ""
    answers = model is not ModelName.CASCADE or (device is not None and answers_by_cascade(device, output))
    asked = "" if answers else f" --model {model.value}"
    if output is None:
        call = f"`coarsen predict KERNEL{where}{asked}`"
        why = "" if answers else "; without --model the launch model answers, which learned from launches of it"
        return f"{call} takes it from now on; with --shipped, that of the package{why}"
    return f"`coarsen predict KERNEL{where}{asked} --models {output}` takes it"
