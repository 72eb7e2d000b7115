"""`coarsen explore`: figures and a table of stored measurements."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

from coarsen.cli.explore_options import (
    Against,
    Benchmarks,
    By,
    Choice,
    CurveOf,
    Devices,
    FigureName,
    FileType,
    Html,
    Kernels,
    OtherAxis,
    Output,
    Preset,
    Show,
    Sources,
    Taken,
    Type,
    Which,
)
from coarsen.cli.explore_page import check_page, page_asked_for, write_page
from coarsen.cli.messages import note
from coarsen.cli.options import OutputFormat, StoreUrl
from coarsen.cli.output import Format, print_json
from coarsen.errors import InvalidInputError

if TYPE_CHECKING:
    from coarsen.cli.explore_figures import Request
    from coarsen.opencl_bench.results import Results


def explore(
    figure: Which = None,
    store: StoreUrl = None,
    source: Sources = None,
    device: Devices = None,
    benchmark: Benchmarks = None,
    preset: Preset = None,
    output: Output = None,
    show: Show = False,
    by: By = CurveOf.DEVICE,
    choice: Choice = Taken.BEST,
    against: Against = OtherAxis.LOCAL_SIZE,
    file_type: Type = FileType.SVG,
    html: Html = None,
    kernels: Kernels = None,
    output_format: OutputFormat = Format.TABLE,
) -> None:
    """Plot stored measurements, or list the best configurations.

    FIGURE is one of curves (speed-up against coarsening factor), violins (all configurations of each kernel),
    hinton (where the fastest 5 % lie), portability (one device's best configuration on another) and all.
    Without it the best configuration of each kernel on each device is listed. With -f json a figure's numbers
    are printed. With --html curves, predictions, failures and sources become one page for a browser.

    Example: coarsen explore curves --benchmark sgemm -o sgemm.svg
    """
    _check_packages()
    if store is not None and source:
        raise InvalidInputError("--store and --from are two sources; give one")
    page = page_asked_for(html, kernels)
    if page is None:
        _check_output(figure, output, show, output_format)
    else:
        others = {"FIGURE": figure, "-o": output, "--show": show, "-f json": output_format is Format.JSON}
        check_page(page, [option for option, value in others.items() if value])
    from coarsen.cli.explore_data import Wanted, chosen_results

    wanted = Wanted(tuple(device or ()), tuple(benchmark or ()), preset)
    results = chosen_results(store, source or (), wanted)
    if page is not None:
        write_page(results, page)
        return
    if figure is None:
        _table(results, output_format)
        return
    from coarsen.cli.explore_figures import look_of, request_of

    request = request_of(results.measurements, figure.value, look_of(by.value, choice.value, against.value))
    if output_format is Format.JSON:
        _print_numbers(request)
    if output is not None or show:
        _draw(request, output, file_type.value, show)


def _check_packages() -> None:
    if any(
        importlib.util.find_spec(package) is None for package in ("matplotlib", "pandas", "pyarrow", "sqlalchemy")
    ):
        raise InvalidInputError("exploring needs more packages: pip install 'coarsen[bench]'")


def _check_output(figure: FigureName | None, output: Path | None, show: bool, output_format: Format) -> None:
    """Find out before anything is read. Raises InvalidInputError."""
    from coarsen.opencl_bench.figures.files import file_type as type_of

    if figure is None:
        if output is not None or show:
            names = ", ".join(FigureName)
            raise InvalidInputError(f"{'-o' if output else '--show'} is for a figure; name one of {names}")
    elif output is None and not show and output_format is Format.TABLE:
        where = "FOLDER" if figure is FigureName.ALL else "FILE"
        raise InvalidInputError(f"where shall the figure go? -o {where} writes it, --show opens a window")
    elif figure is FigureName.ALL and output is not None:
        _make_folder(output)
    elif output is not None:
        type_of(output)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInputError(f"{folder}: no folder can be made there: {error.strerror}") from None


def _table(results: Results, output_format: Format) -> None:
    from coarsen.cli.explore_table import print_best, print_best_as_json

    (print_best_as_json if output_format is Format.JSON else print_best)(results.best())


def _print_numbers(request: Request) -> None:
    from coarsen.cli.explore_figures import numbers
    from coarsen.cli.explore_table import records

    found = {name: records(rows) for name, rows in numbers(request).items()}
    print_json(found)


def _draw(request: Request, output: Path | None, file_type: str, show: bool) -> None:
    from coarsen.cli import explore_figures

    drawn = explore_figures.figures(request)
    if output is not None:
        paths = {name: output / f"{name}.{file_type}" if request.several else output for name in drawn}
        explore_figures.write(drawn, paths)
        note(f"written: {', '.join(map(str, paths.values()))}")
    if show:
        explore_figures.show(drawn)
