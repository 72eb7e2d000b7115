"""`coarsen predict`: the launch, or the factor, for a device, what to expect of it, and why.

fermi, kepler, cypress, tahiti         ─▶ the device's cascade
a device that only a cascade knows     ─▶ that cascade
else, or where --model names it        ─▶ the launch model; with --dim it considers factors alone
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from coarsen.cli.bench.options import PresetName
from coarsen.cli.kernel_input import KERNEL_SUFFIXES, kernels_of, naming_file, whole_arguments
from coarsen.cli.messages import say
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
    existing_folder,
    local_size_of,
    parsed_local_size,
    whole_number,
)
from coarsen.cli.output import Format, print_json, print_line
from coarsen.cli.predict.input import DescribedInput, KernelRequest, LaunchOfInput, read_input, read_launch
from coarsen.cli.predict.output import (
    launch_as_data,
    predicted_text,
    print_cascade,
    print_launch,
    print_launch_as_json,
    say_whose,
)
from coarsen.errors import DeviceError, InvalidInputError, RefusalError
from coarsen.launch_prediction import AskedLaunch, launch_model, predict_launch
from coarsen.models.launch.decision import Risk
from coarsen.models.launch.prediction import LaunchPrediction
from coarsen.prediction import chosen_cascade, predict_by_cascade
from coarsen.targets import Target, installed_device, target_of
from coarsen.user_models import ModelName, answering_model, launch_model_folder

if TYPE_CHECKING:
    from coarsen.devices.discovery import DeviceDescription

# Launches that are measured where nobody says how many.
USUAL_TRIALS = 4

KernelOrBenchmark = Annotated[
    str,
    typer.Argument(
        metavar="KERNEL",
        help="A file: OpenCL C source (.cl), LLVM IR (.ll, .bc), or the .toml that `coarsen describe` writes, "
        "which knows the launch; or a name of the suite.",
        show_default=False,
    ),
]
PredictedDevice = Annotated[
    str,
    typer.Option(
        "-d",
        "--device",
        metavar="NAME",
        help="A known device, tahiti for example, which need not be here (`coarsen devices` lists them); or an "
        "index (0:1) or any part of the name of one that is.",
        show_default=False,
    ),
]
Model = Annotated[
    ModelName | None,
    typer.Option(
        "-m",
        "--model",
        help="The launch model, which chooses among launches; or this device's published cascade (PACT 2014).  "
        "[default: the cascade for fermi, kepler, cypress and tahiti, and for a device that only a cascade of "
        "yours knows; else the launch model]",
    ),
]
PredictedDimension = Annotated[
    int | None,
    typer.Option(
        "--dim",
        metavar="DIMENSION",
        help="Choose a factor along this dimension of the NDRange, 0, 1 or 2, and change nothing else of the "
        "launch.  [default: any launch for the launch model, dimension 0 for a cascade]",
        parser=whole_number,
    ),
]
RiskTaken = Annotated[
    Risk | None,
    typer.Option("--risk", help="How much the launch model may lose for what it may gain.  [default: neutral]"),
]
GlobalSize = Annotated[
    str | None,
    typer.Option(
        "--global-size",
        metavar="SIZE",
        help="The launch's global size, 4096 or 512x512, for the launch model.  [default: the description's; or "
        "else several usual ones]",
    ),
]
ArgumentSizes = Annotated[
    list[str] | None,
    typer.Option(
        "--size", metavar="NAME=NUMBER", help="A whole argument of the launch, for the launch model. Repeatable."
    ),
]
NoMeasure = Annotated[
    bool,
    typer.Option(
        "--no-measure",
        help="Measure nothing. Without it the 4 most promising launches of the launch model are run where the "
        "device is here and the kernel has inputs.",
    ),
]
LocalSizeOption = Annotated[
    str | None,
    typer.Option(
        "--local-size",
        metavar="SIZE",
        help="The launch's local size, 64 or 16x16, for the launch model.  [default: the description's; or else "
        "what is usual]",
    ),
]
Measure = Annotated[
    int | None,
    typer.Option(
        "--measure",
        metavar="NUMBER",
        min=1,
        help="Run the launch as it is and this many of the launches that were predicted, the predicted choice "
        "first, and take the best; 4 if no number is given. It needs inputs: KERNEL.toml, KERNEL.cl beside it, or "
        "a name of the suite.",
    ),
]
Models = Annotated[
    Path | None,
    typer.Option(
        "--models",
        metavar="FOLDER",
        help="Take the model from there.  [default: what `coarsen train` stored; else that of the package]",
    ),
]
Shipped = Annotated[
    bool, typer.Option("--shipped", help="Take the model of the package, also where you trained one.")
]


@dataclass(frozen=True, slots=True)
class _Question:
    """A question as the command line has it; `models` is the folder that was named, `dimension` None for any."""

    device: str
    local_size: tuple[int, ...] | None
    global_size: str | None
    arguments: tuple[str, ...]
    risk: Risk | None
    models: Path | None
    shipped: bool
    dimension: int | None
    trials: int | None
    measures: bool
    store: str | None
    output_format: Format


@dataclass(frozen=True, slots=True)
class _Place:
    """The device at hand and the kernel's inputs, with which launches are measured."""

    device: DeviceDescription
    described: DescribedInput


def predict(
    file: KernelOrBenchmark,
    device: PredictedDevice,
    kernel: KernelName = None,
    dim: PredictedDimension = None,
    local_size: LocalSizeOption = None,
    global_size: GlobalSize = None,
    size: ArgumentSizes = None,
    risk: RiskTaken = None,
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

    Each device has one model that answers, unless --model names the other. For fermi, kepler, cypress and tahiti
    that is the device's published cascade, which gives a factor along one dimension. For the devices that it
    learned from it is the launch model, which gives coarsenings and a local size: the speed-up over the launch as
    it is and over the best uncoarsened local size, and why.

    Where the device is here and the kernel has inputs (KERNEL.toml), the launch model's most promising launches
    are run, verified and timed, its choice first, and the answer is the best of them.

    Example: coarsen predict sgemm.cl --device tahiti
    """
    local = parsed_local_size(local_size)
    _check(store, models, measure, shipped=shipped, no_measure=no_measure)
    folder, dimension = existing_folder("--models", models), None if dim is None else checked_dimension(dim)
    request = KernelRequest(file, kernel, build_options(define, include, cl_std, build_option), preset)
    question = _Question(
        device=device,
        local_size=local,
        global_size=global_size,
        arguments=tuple(size or ()),
        risk=risk,
        models=folder,
        shipped=shipped,
        dimension=dimension,
        trials=measure,
        measures=not no_measure,
        store=store,
        output_format=output_format,
    )
    if (model or answering_model(device, folder, shipped=shipped)) is ModelName.LAUNCH:
        ask = partial(_ask_launch_model, question)
    else:
        own = {"--global-size": global_size, "--size": size, "--risk": risk, "--store": store}
        _refuse_for_cascade({**own, "--local-size": local_size, "--measure": measure})
        ask = partial(_ask_cascade, question)
    _ask_of_each(ask, request, output_format, measure)


def _check(
    store: str | None, models: Path | None, measure: int | None, *, shipped: bool, no_measure: bool
) -> None:
    """Raise InvalidInputError for options that exclude each other."""
    if store is not None and no_measure:
        raise InvalidInputError("--store keeps what is measured: leave out --no-measure")
    if shipped and models is not None:
        raise InvalidInputError("--shipped and --models FOLDER exclude each other")
    if measure is not None and no_measure:
        raise InvalidInputError("--measure and --no-measure exclude each other")


def _refuse_for_cascade(options: Mapping[str, object]) -> None:
    for name, value in options.items():
        if value:
            raise InvalidInputError(f"{name} is for the launch model, and the cascade answers for this device")


def _ask_of_each(
    ask: Callable[[KernelRequest], None], request: KernelRequest, output_format: Format, measure: int | None
) -> None:
    """Ask about the kernel that is named, or about each of the file; a refusal stops none of the others.

    Raises:
        InvalidInputError: there are several, and the answer is one piece of JSON, or measured.
        RefusalError: the last one, after all have been asked about.
    """
    path = Path(request.word)
    is_file = path.suffix in KERNEL_SUFFIXES and path.exists() and measure is None
    names = kernels_of(path, request.kernel, request.options) if is_file else (request.kernel,)
    if len(names) == 1:
        ask(request)
        return
    if output_format is Format.JSON:
        listed = ", ".join(map(str, names))
        raise InvalidInputError(f"--format json tells of one kernel, choose one with -k: {listed}")
    refusals: list[RefusalError] = []
    for number, name in enumerate(names):
        if number:
            print_line()
        try:
            ask(replace(request, kernel=name))
        except RefusalError as refusal:
            refusals.append(refusal)
    for earlier in refusals[:-1]:
        say("error", str(earlier))
    if refusals:
        raise refusals[-1]


def _ask_cascade(question: _Question, wanted: KernelRequest) -> None:
    """Print the cascade's answer."""
    cascade, place = chosen_cascade(question.device, question.models, shipped=question.shipped)
    say_whose(place, question.models)
    given, dimension = read_input(wanted), question.dimension or 0
    with naming_file(given.path):
        prediction = predict_by_cascade(given.kernel, cascade, dimension)
    print_cascade(given.kernel.name, dimension, prediction, cascade.card, question.output_format)


def _ask_launch_model(question: _Question, wanted: KernelRequest) -> None:
    """Predict the launch to use, measure a few where that can be, and print both."""
    folder = launch_model_folder(question.models, shipped=question.shipped)
    model = launch_model(folder)
    say_whose(folder, question.models)
    target = target_of(question.device)
    given = read_launch(wanted, question.local_size, measurable=question.trials is not None)
    place: _Place | None = None
    why_not = "as --no-measure asks"
    if question.measures:
        try:
            place = _place(question, target, given)
        except (DeviceError, InvalidInputError) as error:
            if question.trials is not None or question.store is not None:
                raise
            why_not = str(error)
    with naming_file(given.input.path):
        asked = _asked(question, given)
        prediction = predict_launch(given.input.kernel, model, target, asked, question.risk or Risk.NEUTRAL)
    if place is None:
        _print_predicted(prediction, target, why_not, question.output_format)
    else:
        _measure(question, place, prediction, target, wanted.preset)


def _asked(question: _Question, given: LaunchOfInput) -> AskedLaunch:
    """The launch: what the command line says goes before what the kernel's description says."""
    arguments = {**given.arguments, **whole_arguments(given.input.kernel, question.arguments)}
    global_size = given.global_size
    if question.global_size is not None:
        global_size = local_size_of(question.global_size)
        if global_size is None:
            raise InvalidInputError(
                f"--global-size takes one to three sizes, such as 4096 or 512x512, not '{question.global_size}'"
            )
    local_size, along = question.local_size or given.input.local_size, question.dimension
    return AskedLaunch(local_size, global_size, arguments, along, factors_only=along is not None)


def _place(question: _Question, target: Target, given: LaunchOfInput) -> _Place:
    """Return where launches can be measured. Raises DeviceError or InvalidInputError where they can't be."""
    if given.described is None:
        beside = given.input.path.with_suffix(".toml")
        if beside.is_file():
            raise InvalidInputError(
                f"give {beside} in place of the kernel, or --measure NUMBER: it has the inputs"
            )
        raise InvalidInputError(
            "there are no inputs: `coarsen describe` writes a description of the launch, which is to be given "
            "in place of the kernel"
        )
    # Imported late: predicting does without the store's packages.
    from coarsen.cli.predict.measured import check_packages

    check_packages()
    return _Place(installed_device(target, question.device), given.described)


def _print_predicted(prediction: LaunchPrediction, target: Target, why_not: str, output_format: Format) -> None:
    if output_format is Format.JSON:
        print_launch_as_json(prediction, target)
        return
    print_launch(prediction, target)
    print_line(f"Nothing was measured: {why_not}")


def _measure(
    question: _Question, place: _Place, prediction: LaunchPrediction, target: Target, preset: str
) -> None:
    # Imported late: predicting does without the store's packages.
    from coarsen.cli.predict.measured import (
        check_results,
        measure_launch,
        print_variants,
        variants_as_data,
    )
    from coarsen.models.launch.expected_improvement import Expected

    expected = {
        each.variant: Expected(-math.log(each.over_own.value), each.deviation) for each in prediction.launches
    }
    count, chosen = question.trials or USUAL_TRIALS, prediction.chosen.variant
    given = place.described, place.device, question.local_size, preset
    measured, location = measure_launch(*given, count, expected, chosen, question.store)
    if question.output_format is Format.JSON:
        predicted = launch_as_data(prediction, target)
        predicted["predicted_choice"] = predicted.pop("choice")
        print_json({**predicted, **variants_as_data(measured, location)})
    else:
        file = str(place.described.input.path)
        print_variants(prediction.kernel, file, target, measured)
        print_line(predicted_text(prediction))
        print_line(f"The rows are in {location}")
    sys.stdout.flush()
    check_results(measured, prediction.kernel)
