"""The options of `coarsen explore`."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Annotated

import typer


class FigureName(enum.StrEnum):
    """The figures."""

    CURVES = "curves"


class CurveOf(enum.StrEnum):
    """The lines of a figure: one for each of these."""

    DEVICE = "device"
    DIMENSION = "dimension"
    STRIDE = "stride"


class Taken(enum.StrEnum):
    """The configurations of a factor that the curves take."""

    BEST = "best"
    BASELINE = "baseline"


Which = Annotated[
    FigureName | None,
    typer.Argument(metavar="FIGURE", help="The figure; a table if left out.", show_default=False),
]
Sources = Annotated[
    list[Path] | None,
    typer.Option(
        "--from",
        metavar="FILE",
        help="Results in a file instead: .parquet, .csv, .json (T4) or .jsonl (of a pack). May be repeated.",
    ),
]
Devices = Annotated[
    list[str] | None,
    typer.Option("-d", "--device", metavar="NAME", help="Any part of the device's name. May be repeated."),
]
Benchmarks = Annotated[
    list[str] | None,
    typer.Option("-b", "--benchmark", metavar="NAME", help="A benchmark's name. May be repeated."),
]
Preset = Annotated[
    str | None, typer.Option("--preset", metavar="NAME", help="The sizes; needed where there are several.")
]
Output = Annotated[
    Path | None,
    typer.Option("-o", "--output", metavar="FILE", help="Write the figure: .png, .svg or .pdf."),
]
Show = Annotated[bool, typer.Option("--show", help="Open a window with the figure.")]
# How the figures look: what is left out is None, so that it can be told from what was asked for.
By = Annotated[
    CurveOf | None,
    typer.Option("--by", help="What a curve is of; all but device are of one device.  [default: device]"),
]
Choice = Annotated[
    Taken | None,
    typer.Option(
        "--choice",
        help="What the curves take at each factor: the best, or the best with the baseline's local size.  "
        "[default: best]",
    ),
]
Html = Annotated[
    Path | None,
    typer.Option(
        "--html", metavar="FILE", help="Write one page for a browser instead: curves, failures, sources."
    ),
]
Kernels = Annotated[
    Path | None,
    typer.Option(
        "--kernels",
        metavar="FOLDER",
        help="For --html: descriptions (NAME.toml) of kernels that are not the suite's.",
    ),
]
InputsFile = Annotated[
    list[Path] | None,
    typer.Option(
        "--inputs",
        metavar="FILE.tuned.json",
        help="Draw the times of a tuned file's versions over the input. With --html: have them on the page. May "
        "be repeated; without --store and --from the page is of these alone.",
    ),
]
Over = Annotated[
    str | None,
    typer.Option(
        "--over",
        metavar="FEATURE",
        help="With --inputs: along which feature.  [default: the one asked about first]",
    ),
]
