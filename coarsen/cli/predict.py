"""`coarsen predict`: the factor for a device, what to expect of it, and why; `--measure` tries it out."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from coarsen.cli.bench_options import PresetName
from coarsen.cli.folders import existing_folder
from coarsen.cli.kernel_input import naming_file
from coarsen.cli.local_size import parsed_local_size
from coarsen.cli.messages import note
from coarsen.cli.options import (
    BuildOptions,
    Definitions,
    Dimension,
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
from coarsen.cli.predict_options import (
    KernelOrBenchmark,
    LocalSizeOption,
    Measure,
    Model,
    ModelName,
    Models,
    PredictedDevice,
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
from coarsen.user_models import default_folder


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
    dim: Dimension = 0,
    local_size: LocalSizeOption = None,
    measure: Measure = None,
    preset: PresetName = "cpu",
    store: StoreUrl = None,
    model: Model = ModelName.DEFAULT,
    models: Models = None,
    shipped: Shipped = False,
    define: Definitions = None,
    include: IncludeFolders = None,
    cl_std: Standard = None,
    build_option: BuildOptions = None,
    output_format: OutputFormat = Format.TABLE,
) -> None:
    """Predict the best coarsening factor of a kernel on a device, which need not be there.

    It prints the speed-up over factor 1 that each factor can be expected to give, with an interval, the
    probability that the next step helps, and why. Nothing is run, unless --measure asks for it: then the best of
    a few variants is chosen, along any dimension, with strides, of work-groups, at other local sizes.

    Example: coarsen predict sgemm.cl --device tahiti --local-size 16x16
    """
    size = parsed_local_size(local_size)
    if store is not None and measure is None:
        raise InvalidInputError("--store is for --measure")
    if shipped and models is not None:
        raise InvalidInputError("--shipped and --models FOLDER exclude each other")
    folder, dimension = existing_folder("--models", models), checked_dimension(dim)
    wanted = KernelRequest(file, kernel, build_options(define, include, cl_std, build_option), preset)
    if model is ModelName.CASCADE:
        _check_for_cascade(size is not None, measure is not None)
        cascade, place = chosen_cascade(device, folder, shipped=shipped)
        _say_whose(place, models)
        _ask_cascade(cascade, read_input(wanted), dimension, output_format)
        return
    question = Question(target_of(device), dimension, size, default_folder(folder, shipped=shipped))
    _say_whose(question.models, models)
    if measure is None:
        show = print_curve_as_json if output_format is Format.JSON else print_curve
        show(question.answer(read_input(wanted)), question.target)
    else:
        _measure(question, wanted, Measuring(device, measure, store), output_format)


def _check_for_cascade(has_local_size: bool, measures: bool) -> None:
    if has_local_size:
        raise InvalidInputError("the cascade takes no --local-size: its features do not depend on it")
    if measures:
        raise InvalidInputError("--measure needs the default model: the cascade does not rank factors")


def _say_whose(place: Path | None, named: Path | None) -> None:
    """Say that a model is the user's own, where nobody named its folder."""
    if place is not None and named is None:
        note(f"by the model that you trained, in {place}; --shipped takes that of the package")


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
