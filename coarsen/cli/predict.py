"""`coarsen predict`: the factor for a device, what to expect of it, and why; `--measure` tries it out."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from coarsen.cli.bench_options import PresetName
from coarsen.cli.folders import existing_folder
from coarsen.cli.kernel_input import naming_file
from coarsen.cli.local_size import parsed_local_size
from coarsen.cli.options import (
    BuildOptions,
    Definitions,
    IncludeFolders,
    KernelName,
    OutputFormat,
    Standard,
    StoreUrl,
    build_options,
    checked_dimension,
)
from coarsen.cli.output import Format, print_json
from coarsen.cli.predict_cascade import print_cascade
from coarsen.cli.predict_curve import print_curve, print_curve_as_json
from coarsen.cli.predict_input import KernelInput, KernelRequest, read_input, read_measurable
from coarsen.cli.predict_models import say_whose
from coarsen.cli.predict_options import (
    ArgumentSizes,
    GlobalSize,
    KernelOrBenchmark,
    LocalSizeOption,
    Measure,
    Model,
    ModelName,
    Models,
    NoMeasure,
    PredictedDevice,
    PredictedDimension,
    Risk,
    Shipped,
)
from coarsen.devices.targets import Target, installed_device, target_of
from coarsen.errors import InvalidInputError
from coarsen.models import CascadeModel
from coarsen.prediction import (
    KernelPrediction,
    chosen_cascade,
    default_model,
    predict_by_cascade,
    predict_kernel,
)
from coarsen.user_models import default_folder, has_launch_model


@dataclass(frozen=True, slots=True)
class Question:
    """The question to a model; `models` is the folder that it is from, None for the package's."""

    target: Target
    dimension: int
    local_size: tuple[int, ...] | None
    models: Path | None

    def answer(self, given: KernelInput) -> KernelPrediction:
        """The default model's answer for a kernel; a local size that was asked about goes before the kernel's."""
        model, size = default_model(self.models), self.local_size or given.local_size
        with naming_file(given.path):
            return predict_kernel(given.kernel, model, self.target, self.dimension, size)


@dataclass(frozen=True, slots=True)
class Measuring:
    """The number of variants to measure, the name of the device to measure on, and the store for the results."""

    device: str
    count: int
    store: str | None


def predict(
    file: KernelOrBenchmark,
    device: PredictedDevice,
    kernel: KernelName = None,
    dim: PredictedDimension = None,
    local_size: LocalSizeOption = None,
    global_size: GlobalSize = None,
    size: ArgumentSizes = None,
    risk: Risk = None,
    measure: Measure = None,
    no_measure: NoMeasure = False,
    preset: PresetName = "cpu",
    store: StoreUrl = None,
    model: Model = None,
    models: Models = None,
    shipped: Shipped = False,
    define: Definitions = None,
    include: IncludeFolders = None,
    cl_std: Standard = None,
    build_option: BuildOptions = None,
    output_format: OutputFormat = Format.TABLE,
) -> None:
    """Predict the best launch of a kernel on a device, which need not be there.

    With a launch model, that is a coarsening and a local size: the speed-up over the launch as it is and over the
    best uncoarsened local size, and why. With the default model it is a factor along one dimension: the speed-up
    over factor 1 that each can be expected to give, with an interval, the probability that the next step helps,
    and why. With --measure the best of a few variants is chosen by running them.

    Example: coarsen predict sgemm.cl --device tahiti --local-size 16x16
    """
    local = parsed_local_size(local_size)
    if store is not None and measure is None:
        raise InvalidInputError("--store is for --measure")
    if shipped and models is not None:
        raise InvalidInputError("--shipped and --models FOLDER exclude each other")
    if measure is not None and no_measure:
        raise InvalidInputError("--measure and --no-measure exclude each other")
    folder, dimension = existing_folder("--models", models), checked_dimension(dim or 0)
    wanted = KernelRequest(file, kernel, build_options(define, include, cl_std, build_option), preset)
    own = {"--global-size": global_size, "--size": size, "--risk": risk}
    if _is_by_launch_model(model, dim, folder, shipped):
        # Imported late: the other models do without planned work.
        from coarsen.cli.predict_by_launch import LaunchQuestion, predict_by_launch

        trials = None if no_measure else measure
        question = LaunchQuestion(device, local, global_size, tuple(size or ()), risk, folder, shipped, store)
        predict_by_launch(question, wanted, trials, measures=not no_measure, output_format=output_format)
        return
    _refuse_options_of_launches(own)
    if model is ModelName.CASCADE:
        _check_for_cascade(local is not None, measure is not None)
        cascade, place = chosen_cascade(device, folder, shipped=shipped)
        say_whose(place, models)
        _ask_cascade(cascade, read_input(wanted), dimension, output_format)
        return
    question_of_factors = Question(target_of(device), dimension, local, default_folder(folder, shipped=shipped))
    say_whose(question_of_factors.models, models)
    if measure is None:
        show = print_curve_as_json if output_format is Format.JSON else print_curve
        show(question_of_factors.answer(read_input(wanted)), question_of_factors.target)
    else:
        _measure(question_of_factors, wanted, Measuring(device, measure, store), output_format)


def _is_by_launch_model(model: ModelName | None, dim: int | None, folder: Path | None, shipped: bool) -> bool:
    """Return True if the launch model is asked for, or is there and nothing asks for another."""
    if model is ModelName.LAUNCH:
        if dim is not None:
            raise InvalidInputError("the launch model takes no --dim: it considers all dimensions")
        return True
    return model is None and dim is None and has_launch_model(folder, shipped=shipped)


def _refuse_options_of_launches(options: Mapping[str, object]) -> None:
    for name, value in options.items():
        if value:
            raise InvalidInputError(
                f"{name} is for the launch model (--model launch), which `coarsen train --model launch` makes"
            )


def _check_for_cascade(has_local_size: bool, measures: bool) -> None:
    if has_local_size:
        raise InvalidInputError("the cascade takes no --local-size: its features do not depend on it")
    if measures:
        raise InvalidInputError("--measure needs the default model: the cascade does not rank factors")


def _ask_cascade(cascade: CascadeModel, given: KernelInput, dimension: int, output_format: Format) -> None:
    with naming_file(given.path):
        prediction = predict_by_cascade(given.kernel, cascade, dimension)
    print_cascade(given.kernel.name, dimension, prediction, output_format)


def _measure(question: Question, wanted: KernelRequest, measuring: Measuring, output_format: Format) -> None:
    """Predict, try the most promising variants out, and print both."""
    # Imported late: predicting does without the store's packages.
    from coarsen.cli.predict_measured import check_packages, check_results, launch_of, measure_launch
    from coarsen.cli.predict_variants import measured_as_data, print_measured

    check_packages()
    place = installed_device(question.target, measuring.device)
    described = read_measurable(wanted)
    prediction = question.answer(described.input)
    launch = launch_of(described, place, question.local_size, wanted.preset)
    answer = measure_launch(launch, measuring.count, default_model(question.models), measuring.store)
    if output_format is Format.JSON:
        print_json(measured_as_data(prediction, question.target, answer.measured, answer.location))
    else:
        file = str(described.input.path)
        print_measured(prediction, question.target, answer.measured, file, answer.location)
    sys.stdout.flush()
    check_results(answer.measured, prediction.kernel)
