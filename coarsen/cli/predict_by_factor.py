"""`coarsen predict` by the models of factors: the default model's curve, or the published cascade's answer."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from coarsen.cli.kernel_input import naming_file
from coarsen.cli.output import Format, print_json
from coarsen.cli.predict_cascade import print_cascade
from coarsen.cli.predict_curve import print_curve, print_curve_as_json
from coarsen.cli.predict_input import KernelInput, KernelRequest, read_input, read_measurable
from coarsen.cli.predict_words import say_whose
from coarsen.errors import InvalidInputError
from coarsen.models import CascadeModel
from coarsen.prediction import (
    KernelPrediction,
    chosen_cascade,
    default_model,
    predict_by_cascade,
    predict_kernel,
)
from coarsen.targets import Target, installed_device, target_of
from coarsen.user_models import default_folder
from coarsen.variant.transforms import device_kind_of


@dataclass(frozen=True, slots=True)
class Question:
    """The question to a model; `models` is the folder that it is from, None for the package's."""

    target: Target
    dimension: int
    local_size: tuple[int, ...] | None
    models: Path | None

    def answer(self, given: KernelInput) -> KernelPrediction:
        """Return the default model's answer for a kernel.

        A local size that was asked about goes before the kernel's.
        """
        model, size = default_model(self.models), self.local_size or given.local_size
        with naming_file(given.path):
            return predict_kernel(given.kernel, model, self.target, self.dimension, size)


@dataclass(frozen=True, slots=True)
class Measuring:
    """The number of variants to measure, the name of the device to measure on, and the store for the results."""

    device: str
    count: int
    store: str | None


@dataclass(frozen=True, slots=True)
class FactorQuestion:
    """A question of the command line to a model of factors; `models` is the folder that was named."""

    device: str
    dimension: int
    local_size: tuple[int, ...] | None
    models: Path | None
    shipped: bool


def predict_by_default(
    asked: FactorQuestion, wanted: KernelRequest, measure: int | None, store: str | None, output_format: Format
) -> None:
    """Print the default model's curve, and what was measured where that is asked for."""
    folder = default_folder(asked.models, shipped=asked.shipped)
    question = Question(target_of(asked.device), asked.dimension, asked.local_size, folder)
    say_whose(question.models, asked.models)
    if measure is None:
        show = print_curve_as_json if output_format is Format.JSON else print_curve
        show(question.answer(read_input(wanted)), question.target)
    else:
        _measure(question, wanted, Measuring(asked.device, measure, store), output_format)


def predict_by_published(
    asked: FactorQuestion, wanted: KernelRequest, measure: int | None, output_format: Format
) -> None:
    """Print the cascade's answer. Raises InvalidInputError for what it can't be asked."""
    _check_for_cascade(asked.local_size is not None, measure is not None)
    cascade, place = chosen_cascade(asked.device, asked.models, shipped=asked.shipped)
    say_whose(place, asked.models)
    _ask_cascade(cascade, read_input(wanted), asked.dimension, output_format)


def _check_for_cascade(has_local_size: bool, measures: bool) -> None:
    if has_local_size:
        raise InvalidInputError(
            "the cascade takes no --local-size: its features do not depend on it; leave it out, or name another "
            "model with --model"
        )
    if measures:
        raise InvalidInputError("--measure needs a model that ranks what it considers: the cascade does not")


def _ask_cascade(cascade: CascadeModel, given: KernelInput, dimension: int, output_format: Format) -> None:
    with naming_file(given.path):
        prediction = predict_by_cascade(given.kernel, cascade, dimension)
    print_cascade(given.kernel.name, dimension, prediction, cascade.card, output_format)


def _measure(question: Question, wanted: KernelRequest, measuring: Measuring, output_format: Format) -> None:
    """Predict, try the most promising variants out, and print both."""
    # Imported late: predicting does without the store's packages.
    from coarsen.cli.predict_measured import check_packages, check_results, launch_of, measure_launch
    from coarsen.cli.predict_variants import expected_of_curve, measured_as_data, print_measured

    check_packages()
    place = installed_device(question.target, measuring.device)
    described = read_measurable(wanted)
    prediction = question.answer(described.input)
    launch = launch_of(described, place, question.local_size, wanted.preset)
    expected = expected_of_curve(prediction, device_kind_of(place.device_types))
    choice = next(each for each in expected if each.factor == prediction.factor)
    answer = measure_launch(launch, measuring.count, expected, choice, measuring.store)
    if output_format is Format.JSON:
        print_json(measured_as_data(prediction, question.target, answer.measured, answer.location))
    else:
        file = str(described.input.path)
        print_measured(prediction, question.target, answer.measured, file, answer.location)
    sys.stdout.flush()
    check_results(answer.measured, prediction.kernel)
