"""`coarsen explore`: figures and a table of stored measurements."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from coarsen.cli.explore_inputs import InputsFigure, draw_inputs
from coarsen.cli.explore_options import (
    Benchmarks,
    By,
    Choice,
    CurveOf,
    Devices,
    FigureName,
    Html,
    InputsFile,
    Kernels,
    Output,
    Over,
    Preset,
    Show,
    Sources,
    Taken,
    Which,
)
from coarsen.cli.explore_page import Page, check_page, page_asked_for, write_page
from coarsen.cli.messages import note
from coarsen.cli.options import OutputFormat, StoreUrl
from coarsen.cli.output import Format, print_json
from coarsen.errors import InvalidInputError

if TYPE_CHECKING:
    import pandas as pd

    from coarsen.opencl_bench.reporting.curve_points import By as CurvesBy
    from coarsen.opencl_bench.reporting.curve_points import Choice as CurvesChoice
    from coarsen.opencl_bench.results.results import Results


def explore(
    figure: Which = None,
    store: StoreUrl = None,
    source: Sources = None,
    device: Devices = None,
    benchmark: Benchmarks = None,
    preset: Preset = None,
    output: Output = None,
    show: Show = False,
    by: By = None,
    choice: Choice = None,
    html: Html = None,
    kernels: Kernels = None,
    inputs: InputsFile = None,
    over: Over = None,
    output_format: OutputFormat = Format.TABLE,
) -> None:
    """Plot stored measurements, or list the best configurations.

    FIGURE is `curves`: speed-up against coarsening factor. Without it the best configuration of each kernel on
    each device is listed. With -f json the figure's numbers are printed. With --html curves, failures and sources
    become one page for a browser.

    With --inputs the figure is of a tuned file: the time of each of its versions over the input. With --html as
    well it is on the page.

    Example: coarsen explore curves --benchmark sgemm -o sgemm.svg
    """
    _check_packages()
    if inputs and html is None:
        if len(inputs) > 1:
            raise InvalidInputError("a figure is of one tuned file: give --inputs once, or --html for all of them")
        others: dict[str, object] = {
            "FIGURE": figure,
            "--store": store,
            "--from": source,
            "--device": device,
            "--benchmark": benchmark,
        }
        others |= {"--preset": preset, "--by": by, "--choice": choice}
        draw_inputs(InputsFigure(inputs[0], over, output, show), _given(others), output_format)
        return
    if over is not None:
        raise InvalidInputError("--over goes with --inputs and a figure: the feature along which inputs are")
    if store is not None and source:
        raise InvalidInputError("--store and --from are two sources; give one")
    page = page_asked_for(html, kernels, inputs or ())
    of_figures = _given({"-o": output, "--show": show, "--by": by, "--choice": choice})
    if page is not None:
        as_json = {"-f json": output_format is Format.JSON}
        check_page(page, [*_given({"FIGURE": figure}), *of_figures, *_given(as_json)])
        if inputs and store is None and not source:
            _page_of_tuned(page, _given({"-d": device, "-b": benchmark, "--preset": preset, "--kernels": kernels}))
            return
    elif figure is None:
        _check_table(of_figures)
    else:
        _check_output(output, show, output_format)
    from coarsen.cli.explore_data import Selection, chosen_results, say_presets

    wanted = Selection(tuple(device or ()), tuple(benchmark or ()), preset)
    results = chosen_results(store, source or (), wanted)
    if page is not None:
        write_page(results, page)
        return
    say_presets(results)
    if figure is None:
        _table(results, output_format)
        return
    from coarsen.opencl_bench import plots
    from coarsen.opencl_bench.results.rows import frame_with_intervals

    look = cast("CurvesBy", by or CurveOf.DEVICE), cast("CurvesChoice", choice or Taken.BEST)
    rows = frame_with_intervals(results.measurements, lambda frame: plots.curve_points(frame, *look)["key"])
    if output_format is Format.JSON:
        _print_numbers(rows, *look)
    if output is not None or show:
        _draw(rows, *look, output, show)


def _page_of_tuned(page: Page, others: Sequence[str]) -> None:
    """Write a page without measurements. Raises InvalidInputError for options that choose some."""
    if others:
        raise InvalidInputError(f"{' and '.join(others)} choose measurements: give --store or --from as well")
    write_page(None, page)


def _check_packages() -> None:
    if any(
        importlib.util.find_spec(package) is None for package in ("matplotlib", "pandas", "pyarrow", "sqlalchemy")
    ):
        raise InvalidInputError("exploring needs more packages: pip install 'coarsen[bench]'")


def _given(options: Mapping[str, object]) -> list[str]:
    """The names of those that have a value."""
    return [option for option, value in options.items() if value]


def _check_table(of_figures: Sequence[str]) -> None:
    """Raise InvalidInputError for options that only a figure has."""
    if of_figures:
        verb = "is" if len(of_figures) == 1 else "are"
        raise InvalidInputError(f"{' and '.join(of_figures)} {verb} for a figure; name it: {FigureName.CURVES}")


def _check_output(output: Path | None, show: bool, output_format: Format) -> None:
    """Find out before anything is read. Raises InvalidInputError."""
    from coarsen.opencl_bench.reporting.sheet import file_type

    if output is None and not show and output_format is Format.TABLE:
        raise InvalidInputError("no output given: use -o FILE or --show")
    if output is not None:
        file_type(output)


def _table(results: Results, output_format: Format) -> None:
    from coarsen.cli.explore_table import print_best, print_best_as_json

    (print_best_as_json if output_format is Format.JSON else print_best)(results.best())


def _print_numbers(rows: pd.DataFrame, by: CurvesBy, choice: CurvesChoice) -> None:
    from coarsen.cli.explore_table import records
    from coarsen.opencl_bench.plots import curve_points

    print_json({FigureName.CURVES.value: records(curve_points(rows, by, choice))})


def _draw(rows: pd.DataFrame, by: CurvesBy, choice: CurvesChoice, output: Path | None, show: bool) -> None:
    from coarsen.opencl_bench import plots

    figure = plots.draw_curves(rows, by, choice)
    if output is not None:
        plots.save(figure, output)
        note(f"written: {output}")
    if show:
        plots.show([figure])
