"""The options that `coarsen predict` alone has."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Annotated

import typer

from coarsen.cli.options import whole_number


class ModelName(enum.StrEnum):
    """The predictor that answers."""

    LAUNCH = "launch"
    DEFAULT = "default"
    CASCADE = "cascade"


class RiskName(enum.StrEnum):
    """How much may be lost for what may be gained."""

    CAUTIOUS = "cautious"
    NEUTRAL = "neutral"
    BOLD = "bold"


KernelOrBenchmark = Annotated[
    str,
    typer.Argument(
        metavar="KERNEL",
        help="A file: OpenCL C source (.cl), LLVM IR (.ll, .bc), or the .toml that `coarsen bench init` writes, "
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
        help="The launch model, which chooses among launches; the default model, of factors along one dimension; "
        "or this device's published cascade (PACT 2014).  [default: the cascade for fermi, kepler, cypress and "
        "tahiti, and for a device that only a cascade of yours knows; else the launch model]",
    ),
]
PredictedDimension = Annotated[
    int | None,
    typer.Option(
        "--dim",
        metavar="DIMENSION",
        help="Coarsen along this dimension of the NDRange alone: 0, 1 or 2.  [default: all for the launch model, "
        "0 for the others]",
        parser=whole_number,
    ),
]
Risk = Annotated[
    RiskName | None,
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
        help="The launch's local size, 64 or 16x16.  [default: the description's; or else what is usual]",
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
