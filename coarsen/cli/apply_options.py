"""The options of `coarsen apply`, and which transforms they mean."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Annotated

import typer

from coarsen.cli.output import Format
from coarsen.variant.transforms import DeviceKind


class Form(enum.StrEnum):
    """The forms that can be written: OpenCL C, LLVM IR, SPIR-V, PTX."""

    CL = "cl"
    LL = "ll"
    SPV = "spv"
    PTX = "ptx"


class Stage(enum.StrEnum):
    """The stages of the pipeline after which there is IR to show."""

    LOWER = "lower"
    LAYOUT = "layout"
    GUARD = "guard"
    REPLICATE = "replicate"
    NORMALISE = "normalise"
    WIDEN = "widen"


Device = Annotated[
    str | None,
    typer.Option(
        "-d",
        "--device",
        metavar="NAME",
        help="Take the factor predicted for this device; choose the transforms for its kind.",
    ),
]

Kind = Annotated[
    DeviceKind | None,
    typer.Option("--device-kind", help="What the kernel is to run on.  [default: that of --device, else any]"),
]

# What to write.

Emit = Annotated[
    Form | None, typer.Option("--emit", help="Write OpenCL C, LLVM IR, SPIR-V or PTX.  [default: cl]")
]
Output = Annotated[
    Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write there, not to standard output.")
]
Explain = Annotated[
    bool,
    typer.Option(
        "--explain",
        help="Mark divergent lines and regions, with --factor what comes of them, instead.",
    ),
]
Report = Annotated[
    bool,
    typer.Option("--report", help="Say instead what was done to each divergent region, and what accesses cost."),
]
LocalSize = Annotated[
    str | None,
    typer.Option(
        "--local-size",
        metavar="SIZE",
        help="The original launch's local size, 64 or 16x16; with --report and --features.",
    ),
]
ReportFormat = Annotated[
    Format | None,
    typer.Option("-f", "--format", help="Of --report and --features: a table, or JSON.  [default: table]"),
]
Features = Annotated[
    str | None,
    typer.Option(
        "--features",
        metavar="KIND,...",
        help="Show instead the static features of the kernel at each factor: paper (the 17 of PACT'14), and with "
        "them mechanism, work (loops, instructions and accesses as functions of the sizes), registers:CHIP.",
    ),
]
GlobalSize = Annotated[
    str | None,
    typer.Option("--global-size", metavar="SIZE", help="The launch's global size, 512x512; for --features work."),
]
ArgumentSizes = Annotated[
    list[str] | None,
    typer.Option(
        "--size", metavar="NAME=NUMBER", help="A whole argument of the launch; for --features work. Repeatable."
    ),
]
TunedVersions = Annotated[
    Path | None,
    typer.Option(
        "--tuned",
        metavar="FILE.tuned.json",
        help="Write instead the versions that the tuned file of this kernel has, and a C header that chooses "
        "between them, into the folder of -o.",
    ),
]
PrintAfter = Annotated[
    list[Stage] | None,
    typer.Option(
        "--print-after",
        metavar="STAGE",
        help="Show the IR after lower, layout, guard, replicate, normalise or widen. May be repeated.",
    ),
]
