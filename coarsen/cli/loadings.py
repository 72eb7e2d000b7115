"""`coarsen loadings`: the loadings of the cascade's components, as a table, as JSON or drawn."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from coarsen.cli.folders import existing_folder
from coarsen.cli.messages import note
from coarsen.cli.options import DeviceName, OutputFormat
from coarsen.cli.output import Format, console, print_json, print_line, print_table
from coarsen.errors import InvalidInputError
from coarsen.features import FEATURES
from coarsen.models.cascade.labels import component_labels, input_names
from coarsen.models.cascade.model import CascadeModel
from coarsen.models.cascade.projection import Projection
from coarsen.prediction import chosen_cascade

# Smaller loadings are left out of the table, so that the others can be seen.
_SHOWN = 0.3
# Of a loading, -0.39, and the gap before it.
_COLUMN_WIDTH = 7

Models = Annotated[
    Path | None,
    typer.Option(
        "--models",
        metavar="FOLDER",
        help="Use a model that `coarsen train` stored there.  "
        "[default: one that you trained; else that of the package]",
    ),
]
Figure = Annotated[
    Path | None, typer.Option("-o", "--output", metavar="FILE", help="Draw the loadings too: .png, .svg or .pdf.")
]


def loadings(
    device: DeviceName, models: Models = None, output: Figure = None, output_format: OutputFormat = Format.TABLE
) -> None:
    """Show what the components of a device's cascade load on.

    The cascade does not look at the 17 features and their 17 growths themselves, but at fewer components of them:
    principal components after varimax rotation. A loading is the correlation of an input with a component.

    Example: coarsen loadings --device tahiti -o loadings.svg
    """
    _check_figure(output)
    model, _ = chosen_cascade(device, existing_folder("--models", models))
    if output_format is Format.JSON:
        print_json({"model": model.name, "components": _as_data(model.projection)})
    else:
        _print(model)
    if output is not None:
        _draw(model.projection, output)


def _check_figure(output: Path | None) -> None:
    if output is None:
        return
    if any(importlib.util.find_spec(package) is None for package in ("matplotlib", "pandas")):
        raise InvalidInputError("drawing needs more packages: pip install 'coarsen[bench]'")
    from coarsen.opencl_bench.reporting.figures.files import file_type

    file_type(output)


def _as_data(projection: Projection) -> list[dict[str, object]]:
    labels = component_labels(projection.loadings)
    return [
        {
            "label": label,
            "share_of_variance": float(share),
            "features": _by_feature(column[: len(FEATURES)]),
            "growths": _by_feature(column[len(FEATURES) :]),
        }
        for label, share, column in zip(labels, projection.shares, projection.loadings.T, strict=True)
    ]


def _by_feature(values: Sequence[float]) -> dict[str, float]:
    return {feature.name: float(value) for feature, value in zip(FEATURES, values, strict=True)}


def _print(model: CascadeModel) -> None:
    projection = model.projection
    numbers = [str(number + 1) for number in range(len(projection.shares))]
    held = f"{100 * projection.shares.sum():.0f} % of the variance of {len(projection.loadings)} inputs"
    print_line(f"{model.name}: {len(numbers)} components hold {held}")
    print_line()
    labels = component_labels(projection.loadings)
    shares = [f"{100 * share:.0f} %" for share in projection.shares]
    headings = ["component", "variance", "loads on"]
    print_table(headings, zip(numbers, shares, labels, strict=True), numbers=headings[:2])
    print_line()
    _print_loadings(projection)
    print_line(f"Loadings below {_SHOWN} are left out.")


def _print_loadings(projection: Projection) -> None:
    """A column for each component; several tables one below the other where the terminal is too narrow for one."""
    names, count = input_names(), len(projection.shares)
    room = (console().width - max(map(len, names))) // _COLUMN_WIDTH
    tables = math.ceil(count / max(room, 1))
    for columns in np.array_split(np.arange(count), tables):
        loadings = projection.loadings[:, columns]
        cells = [[f"{loading:.2f}" if abs(loading) >= _SHOWN else "" for loading in row] for row in loadings]
        rows = [[name, *row] for name, row in zip(names, cells, strict=True) if tables == 1 or any(row)]
        numbers = [str(column + 1) for column in columns]
        print_table(["input", *numbers], rows, numbers=numbers)
        print_line()


def _draw(projection: Projection, path: Path) -> None:
    # Imported late: it loads Matplotlib.
    from coarsen.opencl_bench.reporting.figures.draw_loadings import draw_loadings
    from coarsen.opencl_bench.reporting.figures.files import save

    save(draw_loadings(projection), path)
    note(f"written: {path}")
