"""`coarsen predict`: the launch, or the factor, for a device, what to expect of it, and why.

fermi, kepler, cypress, tahiti         ─▶ the device's cascade
a device that only a cascade knows     ─▶ that cascade
else, or where --model names it        ─▶ the launch model; with --dim it considers factors alone
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from coarsen.cli.bench.options import preset_option
from coarsen.cli.declared import argument, option, takes
from coarsen.cli.kernel_input import KERNEL_SUFFIXES, kernels_of, lower_file, naming_file, whole_arguments
from coarsen.cli.messages import raise_last
from coarsen.cli.options import (
    SourceOptions,
    checked_dimension,
    existing_folder,
    format_option,
    kernel_option,
    parsed_size,
    whole_number,
)
from coarsen.cli.output import Format, print_json, print_line
from coarsen.cli.predict.output import launch_as_data, print_cascade, print_launch, say_whose
from coarsen.cli.stores import check_packages, store_option
from coarsen.errors import DeviceError, InvalidInputError, RefusalError
from coarsen.frontend.lower import lower
from coarsen.ir.kernel import Kernel
from coarsen.models.launch.decision import Risk
from coarsen.prediction import AskedLaunch, chosen_cascade, launch_model, predict_by_cascade, predict_launch
from coarsen.targets import Target, installed_device, target_of
from coarsen.user_models import ModelName, answering_model, launch_model_folder

if TYPE_CHECKING:
    from coarsen.devices.discovery import DeviceDescription
    from coarsen.tuning.workload.benchmark import Benchmark


@dataclass(frozen=True, kw_only=True)
class PredictOptions(SourceOptions):
    """The options of `coarsen predict`."""

    file: str = argument(
        "A file: OpenCL C source (.cl), LLVM IR (.ll, .bc), or the .toml that `coarsen describe` writes, "
        "which knows the launch; or a name of the suite.",
        "KERNEL",
    )
    device: str = option(
        "A known device, tahiti for example, which need not be here (`coarsen devices` lists them); or an "
        "index (0:1) or any part of the name of one that is.",
        "NAME",
        "-d --device",
        default=MISSING,
        show_default=False,
    )
    kernel: str | None = kernel_option()
    dim: int | None = option(
        "Choose a factor along this dimension of the NDRange, 0, 1 or 2, and change nothing else of the "
        "launch.  [default: any launch for the launch model, dimension 0 for a cascade]",
        "DIMENSION",
        parser=whole_number,
    )
    local_size: str | None = option(
        "The launch's local size, 64 or 16x16, for the launch model.  [default: the description's; or else "
        "what is usual]",
        "SIZE",
    )
    global_size: str | None = option(
        "The launch's global size, 4096 or 512x512, for the launch model.  [default: the description's; or "
        "else several usual ones]",
        "SIZE",
    )
    size: list[str] | None = option(
        "A whole argument of the launch, for the launch model. Repeatable.", "NAME=NUMBER"
    )
    risk: Risk | None = option("How much the launch model may lose for what it may gain.  [default: neutral]")
    measure: int | None = option(
        "Run the launch as it is and this many of the launches that were predicted, the predicted choice "
        "first, and take the best. It needs inputs: KERNEL.toml, or a name of the suite.",
        "NUMBER",
        min=1,
    )
    no_measure: bool = option(
        "Measure nothing. Without it the 4 most promising launches of the launch model are run where the "
        "device is here and the kernel has inputs.",
        default=False,
    )
    preset: str = preset_option()
    store: str | None = store_option()
    model: ModelName | None = option(
        "The launch model, which chooses among launches; or this device's published cascade (PACT 2014).  "
        "[default: the cascade for fermi, kepler, cypress and tahiti, and for a device that only a cascade of "
        "yours knows; else the launch model]",
        None,
        "-m --model",
    )
    models: Path | None = option(
        "Take the model from there.  [default: what `coarsen train` stored; else that of the package]", "FOLDER"
    )
    shipped: bool = option("Take the model of the package, also where you trained one.", default=False)
    output_format: Format = format_option()

    @property
    def local(self) -> tuple[int, ...] | None:
        """Return the local size that was given. Raises InvalidInputError for what is none."""
        return parsed_size("--local-size", self.local_size)

    def input(self) -> KernelInput:
        """Read the kernel. Raises as `read_input` does."""
        return read_input(self.file, self.kernel, self.build_options, self.preset, self.local)


# The kernel that `coarsen predict` is given: a file of its own, or one whose description tells of its launch too.
#
# kernel.cl, kernel.ll, kernel.bc   the kernel; its launch is unknown
# kernel.toml, sgemm                the kernel, its build options, its launch, its inputs


@dataclass(frozen=True, slots=True)
class KernelInput:
    """A lowered kernel, and what a description says of its launch, where there is one.

    Attributes:
        kernel: as it was lowered.
        path: of its file.
        benchmark: makes its inputs; None without a description, as all that follows.
        name: what a plan calls the benchmark.
        local_size: of the launch; None where the description leaves it open, too.
        global_size: of the launch; None where the local size is open, too.
        arguments: whole arguments of the launch, by name.
    """

    kernel: Kernel
    path: Path
    benchmark: Benchmark | None = None
    name: str | Path = ""
    local_size: tuple[int, ...] | None = None
    global_size: tuple[int, ...] | None = None
    arguments: Mapping[str, int] = field(default_factory=dict)


def read_input(
    word: str,
    kernel: str | None,
    options: str,
    preset: str,
    local_size: tuple[int, ...] | None,
) -> KernelInput:
    """Find and lower a kernel, with its launch where it is described.

    Args:
        word: a file, or a name of the suite.
        kernel: which of a plain file.
        options: how a plain file is built.
        preset: names the sizes of a description.
        local_size: of the launch; the description's if None.

    Raises:
        InvalidInputError: no such file or benchmark, a mistake in it, or options that it leaves no room for.
        RefusalError: the kernel can't be read.
    """
    path = Path(word)
    # What neither is a file nor looks like one is a name of the suite.
    if path.suffix != ".toml" and (path.suffix or path.exists()):
        return KernelInput(lower_file(path, kernel, options), path)
    # Imported late: a plain kernel does without the suite.
    from coarsen.opencl_bench.workloads.lookup import find_benchmark

    name: str | Path = path.resolve() if path.suffix == ".toml" else word
    benchmark = find_benchmark(name)
    if kernel is not None or options:
        raise InvalidInputError(
            f"{word}: its description says which kernel it is and how it is built; leave out -k, -D, -I, "
            "--cl-std and --build-option"
        )
    own = local_size or benchmark.preset(preset).local_size or None
    path = benchmark.code if isinstance(benchmark.code, Path) else path
    with naming_file(path):
        lowered = lower(benchmark.code, benchmark.kernel, benchmark.own_options)
    if own is None:
        return KernelInput(lowered, path, benchmark, name)
    from coarsen.tuning.workload.launch_sizes import sizes_of_launch

    sizes, arguments = sizes_of_launch(benchmark, lowered, preset, own)
    return KernelInput(lowered, path, benchmark, name, own, sizes.global_size[: len(own)], arguments)


@takes(PredictOptions)
def predict(asked: PredictOptions) -> None:
    """Predict the best launch of a kernel on a device, which need not be there.

    Each device has one model that answers, unless --model names the other. For fermi, kepler, cypress and tahiti
    that is the device's published cascade, which gives a factor along one dimension. For the devices that it
    learned from it is the launch model, which gives coarsenings and a local size: the speed-up over the launch as
    it is and over the best uncoarsened local size, and why.

    Where the device is here and the kernel has inputs (KERNEL.toml), the launch model's most promising launches
    are run, verified and timed, its choice first, and the answer is the best of them.

    Example: coarsen predict sgemm.cl --device tahiti
    """
    _check(asked)
    folder = existing_folder("--models", asked.models)
    if (asked.model or answering_model(asked.device, folder, shipped=asked.shipped)) is ModelName.LAUNCH:
        _ask_of_each(_ask_launch_model, asked)
        return
    for name in ("global_size", "size", "risk", "store", "local_size", "measure"):
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


def _ask_of_each(ask: Callable[[PredictOptions], None], asked: PredictOptions) -> None:
    """Ask about the kernel that is named, or about each of the file; a refusal stops none of the others.

    Raises:
        InvalidInputError: there are several, and the answer is one piece of JSON, or measured.
        RefusalError: the last one, after all have been asked about.
    """
    path = Path(asked.file)
    is_file = path.suffix in KERNEL_SUFFIXES and path.exists()
    names = kernels_of(path, asked.kernel, asked.build_options) if is_file else (asked.kernel,)
    if len(names) == 1:
        ask(asked)
        return
    if asked.output_format is Format.JSON:
        listed = ", ".join(map(str, names))
        raise InvalidInputError(f"--format json tells of one kernel, choose one with -k: {listed}")
    refusals: list[RefusalError] = []
    for number, name in enumerate(names):
        if number:
            print_line()
        try:
            ask(replace(asked, kernel=name))
        except RefusalError as refusal:
            refusals.append(refusal)
    raise_last(refusals)


def _ask_cascade(asked: PredictOptions) -> None:
    """Print the cascade's answer."""
    cascade, place = chosen_cascade(asked.device, asked.models, shipped=asked.shipped)
    say_whose(place, asked.models)
    given, dimension = asked.input(), asked.dim or 0
    with naming_file(given.path):
        prediction = predict_by_cascade(given.kernel, cascade, dimension)
    print_cascade(given.kernel.name, dimension, prediction, cascade.card, asked.output_format)


def _ask_launch_model(asked: PredictOptions) -> None:
    """Predict the launch to use, measure a few where that can be, and print both."""
    folder = launch_model_folder(asked.models, shipped=asked.shipped)
    model = launch_model(folder)
    say_whose(folder, asked.models)
    target = target_of(asked.device)
    given = asked.input()
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
    arguments = {**given.arguments, **whole_arguments(given.kernel, asked.size or ())}
    sizes = asked.local or given.local_size, parsed_size("--global-size", asked.global_size) or given.global_size
    return AskedLaunch(*sizes, arguments, asked.dim, factors_only=asked.dim is not None)


def _measuring_device(
    asked: PredictOptions, target: Target, given: KernelInput
) -> tuple[DeviceDescription | None, str]:
    """The device on which launches are measured; None with the reason where they aren't.

    Raises DeviceError or InvalidInputError where measuring was asked for and can't be.
    """
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
