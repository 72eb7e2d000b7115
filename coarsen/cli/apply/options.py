"""The options of `coarsen apply`."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from coarsen.cli.declared import option
from coarsen.cli.options import SourceOptions, file_argument, kernel_option
from coarsen.cli.output import Format
from coarsen.cli.variant_options import EVERY, variant_options
from coarsen.variant.transforms import DeviceKind

Form = Literal["cl", "ll", "spv", "ptx"]


class Stage(enum.StrEnum):
    """The stages of the pipeline after which there is IR to show."""

    LOWER = "lower"
    LAYOUT = "layout"
    CLEAN_UP = "clean-up"
    GUARD = "guard"
    REPLICATE = "replicate"
    NORMALISE = "normalise"
    TILE = "tile"
    WIDEN = "widen"


@dataclass(frozen=True, kw_only=True)
class ApplyOptions(SourceOptions):
    """The options of `coarsen apply`."""

    file: Path = file_argument()
    chosen: Mapping[str, Any] = variant_options(*EVERY)
    kernel: str | None = kernel_option()
    device: str | None = option(
        "Take the factor predicted for this device; choose the transforms for its kind.", "NAME", "-d --device"
    )
    device_kind: DeviceKind | None = option("What the kernel is to run on.  [default: that of --device, else any]")
    emit: Form | None = option("Write OpenCL C, LLVM IR, SPIR-V or PTX.  [default: cl]")
    output: Path | None = option("Write there, not to standard output.", "FILE", "-o --output")
    explain: bool = option(
        "Mark divergent lines and regions, with --factor what comes of them, instead. Of a C file: say what its "
        "loops compute, what depends on what, and which are parallel; -o FILE.svg, .png or .pdf: draw it.",
        default=False,
    )
    report: bool = option(
        "Say instead what was done to each divergent region, and what accesses cost.", default=False
    )
    features: bool = option("Show instead the 17 features of PACT'14 at each factor.", default=False)
    tuned: Path | None = option(
        "Write instead the versions that the tuned file of this kernel has, and a C header that chooses "
        "between them, into the folder of -o.",
        "FILE.tuned.json",
    )
    report_format: Format | None = option(
        "Of --report and --features: a table, or JSON.  [default: table]", None, "-f --format"
    )
    local_size: str | None = option(
        "The original launch's local size, 64 or 16x16; for --tile, and with --explain and --report.", "SIZE"
    )
    print_after: list[Stage] | None = option(
        "Show the IR after lower, layout, clean-up, guard, replicate, normalise, tile or widen. May be repeated.",
        "STAGE",
    )
