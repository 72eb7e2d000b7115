"""`coarsen predict`: the launch, or the factor, for a device, what to expect of it, and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from coarsen.cli.bench_options import PresetName
from coarsen.cli.folders import existing_folder
from coarsen.cli.kernel_input import KERNEL_SUFFIXES, kernels_of
from coarsen.cli.local_size import parsed_local_size
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
)
from coarsen.cli.output import Format, print_line
from coarsen.cli.predict_input import KernelRequest
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
from coarsen.errors import InvalidInputError, RefusalError
from coarsen.user_models import answers_by_launch_model


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
    request = KernelRequest(file, kernel, build_options(define, include, cl_std, build_option), preset)
    own = {"--global-size": global_size, "--size": size, "--risk": risk}
    if _is_by_launch_model(model, dim, device, folder, shipped):
        # Imported late: the other models do without planned work.
        from coarsen.cli.predict_by_launch import LaunchQuestion, predict_by_launch

        trials = None if no_measure else measure
        question = LaunchQuestion(device, local, global_size, tuple(size or ()), risk, folder, shipped, store)
        ask = partial(
            predict_by_launch, question, trials=trials, measures=not no_measure, output_format=output_format
        )
        _ask_of_each(ask, request, output_format, measure)
        return
    _refuse_options_of_launches(own)
    # Imported late: the launch model does without the features of the others.
    from coarsen.cli.predict_by_factor import FactorQuestion, predict_by_default, predict_by_published

    asked = FactorQuestion(device, dimension, local, folder, shipped)
    if model is ModelName.CASCADE:
        ask = partial(predict_by_published, asked, measure=measure, output_format=output_format)
    else:
        ask = partial(predict_by_default, asked, measure=measure, store=store, output_format=output_format)
    _ask_of_each(ask, request, output_format, measure)


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
    for refusal in refusals[:-1]:
        say("error", str(refusal))
    if refusals:
        raise refusals[-1]


def _is_by_launch_model(
    model: ModelName | None, dim: int | None, device: str, folder: Path | None, shipped: bool
) -> bool:
    """Return True if the launch model is asked for, or answers and nothing asks for another."""
    if model is ModelName.LAUNCH:
        if dim is not None:
            raise InvalidInputError("the launch model takes no --dim: it considers all dimensions")
        return True
    return model is None and dim is None and answers_by_launch_model(device, folder, shipped=shipped)


def _refuse_options_of_launches(options: Mapping[str, object]) -> None:
    for name, value in options.items():
        if value:
            raise InvalidInputError(f"{name} is for the launch model: ask for --model launch, without --dim")
