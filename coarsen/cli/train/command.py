"""`coarsen train`: a device's cascade, or the launch model."""

from __future__ import annotations

from pathlib import Path

from coarsen.cli.declared import takes
from coarsen.cli.options import check_folder, checked_dimension, existing_folder
from coarsen.cli.output import Format, print_line
from coarsen.cli.stores import check_packages
from coarsen.cli.train.options import TrainOptions
from coarsen.errors import InvalidInputError
from coarsen.user_models import ModelName, answering_model


@takes(TrainOptions)
def train(asked: TrainOptions) -> None:
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
    existing_folder("--kernels", asked.kernels)
    check_folder(asked.folder)
    if asked.model is ModelName.LAUNCH:
        for name, value in {"--device": asked.device, "--dim": asked.dim}.items():
            if value:
                raise InvalidInputError(f"{name} is not for the launch model")
        # Imported late: it loads the suite.
        from coarsen.cli.train.launch import train_launch_model

        train_launch_model(asked)
    else:
        if asked.device is None:
            raise InvalidInputError("give the cascade's --device, or --model launch for the model of all devices")
        checked_dimension(asked.dim)
        check_packages(("torch", "sklearn"), "training", "train")
        # Imported late: it loads the suite.
        from coarsen.cli.train.cascade import train_cascade

        train_cascade(asked, asked.device)
    if asked.output_format is not Format.JSON:
        print_line(_how_to_use(asked.model, asked.device, asked.output))


def _how_to_use(model: ModelName, device: str | None, output: Path | None) -> str:
    where = f" --device {device}" if device else ""
    answers = device is None or answering_model(device, output) is model
    asked = "" if answers else f" --model {model.value}"
    if output is None:
        call = f"`coarsen predict KERNEL{where}{asked}`"
        why = "" if answers else "; without --model the launch model answers, which learned from launches of it"
        return f"{call} takes it from now on; with --shipped, that of the package{why}"
    return f"`coarsen predict KERNEL{where}{asked} --models {output}` takes it"
