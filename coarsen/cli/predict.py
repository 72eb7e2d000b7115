"""`coarsen predict`: the launch, or the factor, for a device, what to expect of it, and why.

fermi, kepler, cypress, tahiti         ─▶ the device's cascade
a device that only a cascade knows     ─▶ that cascade
else, or where --model names another   ─▶ the launch model, along one dimension with --dim; the default model
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from coarsen.cli.bench.options import PresetName
from coarsen.cli.kernel_input import KERNEL_SUFFIXES, kernels_of
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
    parsed_local_size,
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
from coarsen.user_models import answers_by_cascade, answers_by_launch_model


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

    Each device has one model that answers, unless --model names another. For fermi, kepler, cypress and tahiti
    that is the device's published cascade, which gives a factor along one dimension. For other devices it is the
    launch model, which gives coarsenings and a local size: the speed-up over the launch as it is and over the best
    uncoarsened local size, and why.

    Where the device is here and the kernel has inputs (KERNEL.toml), the launch model's most promising launches
    are run, verified and timed, its choice first, and the answer is the best of them.

    Example: coarsen predict sgemm.cl --device tahiti
    """
    local = parsed_local_size(local_size)
    if store is not None and no_measure:
        raise InvalidInputError("--store keeps what is measured: leave out --no-measure")
    if shipped and models is not None:
        raise InvalidInputError("--shipped and --models FOLDER exclude each other")
    if measure is not None and no_measure:
        raise InvalidInputError("--measure and --no-measure exclude each other")
    folder, dimension = existing_folder("--models", models), checked_dimension(dim or 0)
    request = KernelRequest(file, kernel, build_options(define, include, cl_std, build_option), preset)
    own = {"--global-size": global_size, "--size": size, "--risk": risk}
    answering = model or _answering(device, folder, shipped=shipped)
    if answering is ModelName.LAUNCH:
        # Imported late: the other models do without planned work.
        from coarsen.cli.predict_by_launch import LaunchQuestion, predict_by_launch

        trials = None if no_measure else measure
        along = None if dim is None else dimension
        sizes = local, global_size, tuple(size or ())
        question = LaunchQuestion(device, *sizes, risk, folder, shipped, store, along)
        ask = partial(
            predict_by_launch, question, trials=trials, measures=not no_measure, output_format=output_format
        )
        _ask_of_each(ask, request, output_format, measure)
        return
    _refuse_options_of_launches(own)
    if store is not None and measure is None:
        raise InvalidInputError("--store keeps what is measured: give --measure NUMBER, too")
    # Imported late: the launch model does without the features of the others.
    from coarsen.cli.predict_by_factor import FactorQuestion, predict_by_default, predict_by_published

    asked = FactorQuestion(device, dimension, local, folder, shipped)
    if answering is ModelName.CASCADE:
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
    for earlier in refusals[:-1]:
        say("error", str(earlier))
    if refusals:
        raise refusals[-1]


def _answering(device: str, folder: Path | None, *, shipped: bool) -> ModelName:
    """The model that answers for a device where none is named."""
    if answers_by_cascade(device, folder, shipped=shipped):
        return ModelName.CASCADE
    by_launch = answers_by_launch_model(device, folder, shipped=shipped)
    return ModelName.LAUNCH if by_launch else ModelName.DEFAULT


def _refuse_options_of_launches(options: Mapping[str, object]) -> None:
    for name, value in options.items():
        if value:
            raise InvalidInputError(f"{name} is for the launch model: ask for --model launch")
