"""The options of `coarsen predict`, and the kernel that they name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from coarsen.cli.declared import argument, option
from coarsen.cli.kernel_input import KERNEL_SUFFIXES, lower_file, naming_file
from coarsen.cli.options import (
    SourceOptions,
    format_option,
    kernel_option,
    parsed_size,
    preset_option,
    whole_number,
)
from coarsen.cli.output import Format
from coarsen.cli.stores import store_option
from coarsen.errors import InvalidInputError
from coarsen.frontend.lower import lower
from coarsen.frontend.translation_unit import TranslationUnit
from coarsen.ir.kernel import Kernel
from coarsen.models.launch import Risk
from coarsen.user_models import ModelName

if TYPE_CHECKING:
    from coarsen.tuning.workload.benchmark import Benchmark


@dataclass(frozen=True, kw_only=True)
class PredictOptions(SourceOptions):
    """The options of `coarsen predict`."""

    file: str = argument(
        "A file: OpenCL C source (.cl), LLVM IR (.ll, .bc), or one that knows the launch: the .toml that "
        "`coarsen describe` writes, or the .npz of `coarsen run --record`; or a name of the suite.",
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
    risk: Risk | None = option(
        "How much may be lost for what may be gained. A cascade with cautious answers 1 where one of its steps is "
        "doubtful; it knows no bold.  [default: neutral]"
    )
    measure: int | None = option(
        "Run the launch as it is and this many of the launches that were predicted, the predicted choice "
        "first, and take the best. It needs inputs: KERNEL.toml, NAME.npz, or a name of the suite.",
        "NUMBER",
        min=1,
    )
    no_measure: bool = option(
        "Measure nothing. Without it the 6 most promising launches of the launch model are run where the "
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

    def input(self, unit: TranslationUnit | None = None) -> KernelInput:
        """Read the kernel, of the file as it was compiled where it was. Raises as `read_input` does."""
        return read_input(self.file, self.kernel, self.build_options, self.preset, self.local, unit)


# The kernel that `coarsen predict` is given: a file of its own, or one whose description tells of its launch too.
#
# kernel.cl, kernel.ll, kernel.bc   the kernel; its launch is unknown
# kernel.toml, NAME.npz, sgemm      the kernel, its build options, its launch, its inputs


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
    unit: TranslationUnit | None = None,
) -> KernelInput:
    """Find and lower a kernel, with its launch where it is described.

    Args:
        word: a file, or a name of the suite.
        kernel: which of a plain file.
        options: how a plain file is built.
        preset: names the sizes of a description.
        local_size: of the launch; the description's if None.
        unit: a plain file, where it is compiled already.

    Raises:
        InvalidInputError: no such file or benchmark, a mistake in it, or options that it leaves no room for.
        RefusalError: the kernel can't be read.
    """
    path = Path(word)
    if path.suffix in KERNEL_SUFFIXES:
        return KernelInput(lower_file(path, kernel, options, unit), path)
    # Imported late: a plain kernel does without the suite.
    from coarsen.opencl_bench.workloads.lookup import find_benchmark
    from coarsen.tuning.workload.launch_list import LAUNCH_SUFFIXES

    # What neither is a file nor looks like one is a name of the suite.
    if path.suffix not in LAUNCH_SUFFIXES and (path.suffix or path.exists()):
        return KernelInput(lower_file(path, kernel, options), path)

    name: str | Path = path.resolve() if path.suffix in LAUNCH_SUFFIXES else word
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
    from coarsen.tuning.launch_prior import sizes_of_launch

    sizes, arguments = sizes_of_launch(benchmark, lowered, preset, own)
    return KernelInput(lowered, path, benchmark, name, own, sizes.global_size[: len(own)], arguments)
