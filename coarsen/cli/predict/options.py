"""The options of `coarsen predict`."""

from __future__ import annotations

from dataclasses import MISSING, dataclass
from pathlib import Path

from coarsen.cli.bench.options import preset_option
from coarsen.cli.declared import argument, option
from coarsen.cli.options import SourceOptions, format_option, kernel_option, parsed_size, whole_number
from coarsen.cli.output import Format
from coarsen.cli.predict.input import KernelInput, read_input
from coarsen.cli.stores import store_option
from coarsen.models.launch.decision import Risk
from coarsen.user_models import ModelName


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
