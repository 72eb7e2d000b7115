"""The options that `coarsen predict` alone has."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Annotated

import typer


class ModelName(enum.StrEnum):
    """The predictor that answers."""

    DEFAULT = "default"
    CASCADE = "cascade"


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
    ModelName,
    typer.Option(
        "-m", "--model", help="The default model of all devices, or this one's published cascade (PACT 2014)."
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
        help="Run the launch as it is and so many of the most promising variants on the device, 3 if no number is "
        "given, and take the best. It needs inputs: KERNEL.toml, KERNEL.cl beside it, or a name of the suite.",
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
