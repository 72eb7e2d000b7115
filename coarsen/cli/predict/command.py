"""`coarsen predict`: the launch, or the factor, for a device, what to expect of it, and why.

fermi, kepler, cypress, tahiti         ─▶ the device's cascade
a device that only a cascade knows     ─▶ that cascade
else, or where --model names it        ─▶ the launch model; with --dim it considers factors alone
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from coarsen.base.one_thread import load_numpy_in_one_thread
from coarsen.cli.declared import takes
from coarsen.cli.kernel_input import KERNEL_SUFFIXES, naming_file, unit_of, whole_arguments
from coarsen.cli.messages import raise_last
from coarsen.cli.options import checked_dimension, existing_folder, parsed_size
from coarsen.cli.output import Format, print_json, print_line
from coarsen.cli.predict.options import KernelInput, PredictOptions
from coarsen.cli.predict.output import launch_as_data, print_cascade, print_launch, say_whose
from coarsen.cli.stores import check_packages
from coarsen.errors import DeviceError, InvalidInputError, RefusalError
from coarsen.frontend.translation_unit import TranslationUnit
from coarsen.models.launch import Risk
from coarsen.user_models import ModelName, answering_model, chosen_cascade, launch_model_folder

if TYPE_CHECKING:
    from coarsen.devices.discovery import DeviceDescription
    from coarsen.prediction import AskedLaunch
    from coarsen.targets import Target


@takes(PredictOptions)
def predict(asked: PredictOptions) -> None:
    """Predict the best launch of a kernel on a device, which need not be there.

    Each device has one model that answers, unless --model names the other. For fermi, kepler, cypress and tahiti
    that is the device's published cascade, which gives a factor along one dimension. For the devices that it
    learned from it is the launch model, which gives coarsenings and a local size: the speed-up over the launch as
    it is and over the best uncoarsened local size, and why.

    Where the device is here and the kernel has inputs (KERNEL.toml, NAME.npz), the launch model's most promising
    launches are run, verified and timed, its choice first, and the answer is the best of them.

    Example: coarsen predict sgemm.cl --device tahiti
    """
    _check(asked)
    if Path(asked.file).suffix in KERNEL_SUFFIXES:
        # It has no inputs: nothing is run, and no array is worth a second thread.
        load_numpy_in_one_thread()
    folder = existing_folder("--models", asked.models)
    if (asked.model or answering_model(asked.device, folder, shipped=asked.shipped)) is ModelName.LAUNCH:
        _ask_of_each(_ask_launch_model, asked)
        return
    if asked.risk is Risk.BOLD:
        raise InvalidInputError("--risk bold is for the launch model: a cascade has neutral and cautious")
    for name in ("global_size", "size", "store", "local_size", "measure"):
        if getattr(asked, name):
            flag = f"--{name.replace('_', '-')}"
            raise InvalidInputError(f"{flag} is for the launch model, and the cascade answers for this device")
    _ask_of_each(_ask_cascade, asked)


def _check(asked: PredictOptions) -> None:
    """Raise InvalidInputError for options that exclude each other, and for sizes that are none."""
    if asked.store is not None and asked.no_measure:
        raise InvalidInputError("--store keeps what is measured: leave out --no-measure")
    if asked.shipped and asked.models is not None:
        raise InvalidInputError("--shipped and --models FOLDER exclude each other")
    if asked.measure is not None and asked.no_measure:
        raise InvalidInputError("--measure and --no-measure exclude each other")
    if asked.dim is not None:
        checked_dimension(asked.dim)
    parsed_size("--local-size", asked.local_size)
    parsed_size("--global-size", asked.global_size)


def _ask_of_each(ask: Callable[[PredictOptions, TranslationUnit | None], None], asked: PredictOptions) -> None:
    """Ask about the kernel that is named, or about each of the file; a refusal stops none of the others.

    Raises:
        InvalidInputError: there are several, and the answer is one piece of JSON, or measured.
        RefusalError: the last one, after all have been asked about.
    """
    path = Path(asked.file)
    is_looked_into = asked.kernel is None and path.suffix in KERNEL_SUFFIXES and path.exists()
    unit = unit_of(path, None, asked.build_options) if is_looked_into else None
    names = unit.kernels if unit is not None else ()
    if len(names) < 2:
        ask(asked, unit)
        return
    if asked.output_format is Format.JSON:
        raise InvalidInputError(f"--format json tells of one kernel, choose one with -k: {', '.join(names)}")
    refusals: list[RefusalError] = []
    for number, name in enumerate(names):
        if number:
            print_line()
        try:
            ask(replace(asked, kernel=name), unit)
        except RefusalError as refusal:
            refusals.append(refusal)
    raise_last(refusals)


def _ask_cascade(asked: PredictOptions, unit: TranslationUnit | None) -> None:
    """Print the cascade's answer."""
    # Imported late: the help does without NumPy.
    from coarsen.features import feature_table

    cascade, place = chosen_cascade(asked.device, asked.models, shipped=asked.shipped)
    say_whose(place, asked.models)
    given, dimension = asked.input(unit), asked.dim or 0
    with naming_file(given.path):
        prediction = cascade.predict(feature_table(given.kernel, dimension))
    print_cascade(given.kernel.name, dimension, prediction, asked.risk, cascade.card, asked.output_format)


def _ask_launch_model(asked: PredictOptions, unit: TranslationUnit | None) -> None:
    """Predict the launch to use, measure a few where that can be, and print both."""
    # Imported late: a cascade does without the launch model.
    from coarsen.prediction import launch_model, predict_launch
    from coarsen.targets import target_of

    folder = launch_model_folder(asked.models, shipped=asked.shipped)
    model = launch_model(folder)
    say_whose(folder, asked.models)
    target = target_of(asked.device)
    given = asked.input(unit)
    device, why_not = _measuring_device(asked, target, given)
    with naming_file(given.path):
        prediction = predict_launch(given.kernel, model, target, _launch(asked, given), asked.risk or Risk.NEUTRAL)
    if device is not None:
        # Imported late: predicting does without the store's packages.
        from coarsen.cli.predict.measured import measure_and_print

        measure_and_print(asked, given, device, prediction, target)
    elif asked.output_format is Format.JSON:
        print_json(launch_as_data(prediction, target))
    else:
        print_launch(prediction, target)
        print_line(f"Nothing was measured: {why_not}")


def _launch(asked: PredictOptions, given: KernelInput) -> AskedLaunch:
    """The launch: what the command line says goes before what the kernel's description says."""
    # Imported late, as all of the launch model.
    from coarsen.prediction import AskedLaunch

    arguments = {**given.arguments, **whole_arguments(given.kernel, asked.size or ())}
    sizes = asked.local or given.local_size, parsed_size("--global-size", asked.global_size) or given.global_size
    return AskedLaunch(*sizes, arguments, asked.dim, factors_only=asked.dim is not None)


def _measuring_device(
    asked: PredictOptions, target: Target, given: KernelInput
) -> tuple[DeviceDescription | None, str]:
    """The device on which launches are measured; None with the reason where they aren't.

    Raises DeviceError or InvalidInputError where measuring was asked for and can't be.
    """
    # Imported late, as all of the launch model.
    from coarsen.targets import installed_device

    if asked.no_measure:
        return None, "as --no-measure asks"
    try:
        _check_measurable(given)
        return installed_device(target, asked.device), ""
    except (DeviceError, InvalidInputError) as error:
        if asked.measure is not None or asked.store is not None:
            raise
        return None, str(error)


def _check_measurable(given: KernelInput) -> None:
    """Raise InvalidInputError for a kernel without inputs, or where a package is missing."""
    beside = given.path.with_suffix(".toml")
    if given.benchmark is None and beside.is_file():
        raise InvalidInputError(f"give {beside} in place of the kernel: it has the inputs")
    if given.benchmark is None:
        raise InvalidInputError(
            "there are no inputs: `coarsen describe` writes a description of the launch, which is to be given "
            "in place of the kernel"
        )
    check_packages(what="measuring")
