"""`coarsen predict` by the launch model: with sizes where they are known, measured where the device is."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from coarsen.cli.kernel_input import naming_file
from coarsen.cli.local_size import local_size_of
from coarsen.cli.output import Format, print_json, print_line
from coarsen.cli.predict_input import DescribedInput, KernelRequest, LaunchOfInput, read_launch
from coarsen.cli.predict_launch import launch_as_data, predicted_text, print_launch, print_launch_as_json
from coarsen.cli.predict_options import RiskName
from coarsen.cli.predict_words import say_whose
from coarsen.cli.whole_arguments import whole_arguments
from coarsen.errors import DeviceError, InvalidInputError
from coarsen.launch_prediction import AskedLaunch, launch_model, predict_launch
from coarsen.models.launch.decision import Risk
from coarsen.models.launch.prediction import LaunchPrediction
from coarsen.targets import Target, installed_device, target_of
from coarsen.user_models import launch_model_folder

if TYPE_CHECKING:
    from coarsen.devices.discovery import DeviceDescription

# Launches that are measured where nobody says how many.
USUAL_TRIALS = 4


@dataclass(frozen=True, slots=True)
class LaunchQuestion:
    """The question to the launch model, as the command line has it; `models` is the folder that was named."""

    device: str
    local_size: tuple[int, ...] | None
    global_size: str | None
    arguments: tuple[str, ...]
    risk: RiskName | None
    models: Path | None
    shipped: bool
    store: str | None
    dimension: int | None = None

    @property
    def folder(self) -> Path | None:
        """The folder of the model; None for the package's."""
        return launch_model_folder(self.models, shipped=self.shipped)


@dataclass(frozen=True, slots=True)
class _Place:
    """The device at hand and the kernel's inputs, with which launches are measured."""

    device: DeviceDescription
    described: DescribedInput


def predict_by_launch(
    question: LaunchQuestion,
    wanted: KernelRequest,
    trials: int | None,
    *,
    measures: bool,
    output_format: Format,
) -> None:
    """Predict the launch to use, measure a few where that can be, and print both.

    Args:
        question: what is asked.
        wanted: the kernel.
        trials: launches to measure; None for the usual number where the device and inputs are there.
        measures: whether anything may be measured.
        output_format: a table or JSON.
    """
    model = launch_model(question.folder)
    say_whose(question.folder, question.models)
    target = target_of(question.device)
    given = read_launch(wanted, question.local_size, measurable=trials is not None)
    place: _Place | None = None
    why_not = "as --no-measure asks"
    if measures:
        try:
            place = _place(question, target, given)
        except (DeviceError, InvalidInputError) as error:
            if trials is not None or question.store is not None:
                raise
            why_not = str(error)
    with naming_file(given.input.path):
        asked = _asked(question, given)
        prediction = predict_launch(given.input.kernel, model, target, asked, _risk(question.risk))
    if place is None:
        _print_predicted(prediction, target, why_not, output_format)
    else:
        _measure(question, place, prediction, (target, trials or USUAL_TRIALS, wanted.preset), output_format)


def _risk(name: RiskName | None) -> Risk:
    return Risk.NEUTRAL if name is None else Risk(name.value)


def _asked(question: LaunchQuestion, given: LaunchOfInput) -> AskedLaunch:
    """The launch: what the command line says goes before what the kernel's description says."""
    arguments = {**given.arguments, **whole_arguments(given.input.kernel, question.arguments)}
    global_size = given.global_size
    if question.global_size is not None:
        global_size = local_size_of(question.global_size)
        if global_size is None:
            raise InvalidInputError(
                f"--global-size takes one to three sizes, such as 4096 or 512x512, not '{question.global_size}'"
            )
    return AskedLaunch(question.local_size or given.input.local_size, global_size, arguments, question.dimension)


def _place(question: LaunchQuestion, target: Target, given: LaunchOfInput) -> _Place:
    """Return where launches can be measured. Raises DeviceError or InvalidInputError where they can't be."""
    if given.described is None:
        beside = given.input.path.with_suffix(".toml")
        if beside.is_file():
            raise InvalidInputError(
                f"give {beside} in place of the kernel, or --measure NUMBER: it has the inputs"
            )
        raise InvalidInputError(
            "there are no inputs: `coarsen bench init` writes a description of the launch, which is to be given "
            "in place of the kernel"
        )
    # Imported late: predicting does without the store's packages.
    from coarsen.cli.predict_measured import check_packages

    check_packages()
    return _Place(installed_device(target, question.device), given.described)


def _print_predicted(prediction: LaunchPrediction, target: Target, why_not: str, output_format: Format) -> None:
    if output_format is Format.JSON:
        print_launch_as_json(prediction, target)
        return
    print_launch(prediction, target)
    print_line(f"Nothing was measured: {why_not}")


def _measure(
    question: LaunchQuestion,
    place: _Place,
    prediction: LaunchPrediction,
    trial: tuple[Target, int, str],
    output_format: Format,
) -> None:
    # Imported late: predicting does without the store's packages.
    from coarsen.cli.predict_measured import check_results, launch_of, measure_launch
    from coarsen.cli.predict_variants import MeasuredKernel, print_variants, variants_as_data
    from coarsen.models.launch.expected_improvement import Expected

    target, count, preset = trial
    launch = launch_of(place.described, place.device, question.local_size, preset)
    expected = {
        each.variant: Expected(-math.log(each.over_own.value), each.deviation) for each in prediction.launches
    }
    answer = measure_launch(launch, count, expected, prediction.chosen.variant, question.store)
    if output_format is Format.JSON:
        predicted = launch_as_data(prediction, target)
        predicted["predicted_choice"] = predicted.pop("choice")
        print_json({**predicted, **variants_as_data(answer.measured, answer.location)})
    else:
        file = str(place.described.input.path)
        print_variants(MeasuredKernel(prediction.kernel, prediction.device_note, file), target, answer.measured)
        print_line(predicted_text(prediction))
        print_line(f"The rows are in {answer.location}")
    sys.stdout.flush()
    check_results(answer.measured, prediction.kernel)
