"""`coarsen results plot`: the curves of stored measurements, the times of a tuned file, or a page for a browser.

-o NAME.svg .png .pdf       speed-up against coarsening factor; of FILE.tuned.json the times of its versions
-o NAME.html                one page: curves, choices, failures, sources, tuned files
-f json                     the numbers that a figure is drawn from
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from coarsen.cli.messages import note
from coarsen.cli.options import existing_folder
from coarsen.cli.output import check_writable, print_json
from coarsen.cli.stores import check_packages
from coarsen.errors import InvalidInputError

if TYPE_CHECKING:
    from coarsen.cli.results.command import ResultsOptions
    from coarsen.opencl_bench.results.results import Results

TUNED_SUFFIX = ".tuned.json"
PAGE_SUFFIX = ".html"
PLOTTING = ("matplotlib", "pandas", "pyarrow", "sqlalchemy")
# The most names in a note.
_NAMED = 3


def is_page(asked: ResultsOptions) -> bool:
    """Return True for a page for a browser."""
    return asked.output is not None and asked.output.suffix == PAGE_SUFFIX


def check(asked: ResultsOptions, tuned: Sequence[Path], has_rows: bool) -> None:
    """Find out before anything is read whether a figure or a page can be made.

    Args:
        asked: the options.
        tuned: the tuned files among its sources.
        has_rows: whether measurements are among them.

    Raises:
        InvalidInputError: no output is named, or one that can't be written; options for another figure.
    """
    if asked.output is None and not asked.is_json:
        raise InvalidInputError("no output given: use -o FILE.svg, -o FILE.html or -f json")
    if tuned and not is_page(asked) and (has_rows or len(tuned) > 1):
        raise InvalidInputError("a figure is of measurements or of one tuned file; -o FILE.html takes several")
    kind = "a page" if is_page(asked) else "a tuned file" if tuned else "measurements"
    given = {
        "--by": asked.by != "device",
        "--choice": asked.choice != "best",
        "--over": asked.over,
        "--descriptions": asked.descriptions,
        "--format": asked.is_json,
    }
    for name, value in given.items():
        if value and name not in _TAKEN[kind]:
            rightly = " and ".join(each for each, names in _TAKEN.items() if name in names)
            raise InvalidInputError(f"{name} is not for {kind}, but for {rightly}")
    if asked.output is None:
        return
    if is_page(asked):
        check_packages(("jinja2",), "the page")
        existing_folder("--descriptions", asked.descriptions)
        check_writable(asked.output)
    else:
        # Imported late: it loads matplotlib.
        from coarsen.opencl_bench.reporting.sheet import file_type

        file_type(asked.output)


# What is drawn, and the options that it takes.
_TAKEN = {
    "a page": ("--descriptions",),
    "a tuned file": ("--over", "--format"),
    "measurements": ("--by", "--choice", "--format"),
}


def draw_curves(results: Results, asked: ResultsOptions) -> None:
    """Draw speed-ups against factors, or print their numbers.

    Args:
        results: the measurements.
        asked: the options; JSON for the numbers.

    Raises:
        InvalidInputError: there is nothing to draw, or it can't be written.
    """
    # Imported late: they load matplotlib.
    from coarsen.cli.results.text import records
    from coarsen.opencl_bench import plots
    from coarsen.opencl_bench.results.rows import frame_with_intervals

    by, choice = asked.by, asked.choice
    rows = frame_with_intervals(results.measurements, lambda frame: plots.curve_points(frame, by, choice)["key"])
    if asked.is_json:
        print_json({"curves": records(plots.curve_points(rows, by, choice))})
    if asked.output is not None:
        plots.save(plots.draw_curves(rows, by, choice), asked.output)
        note(f"written: {asked.output}")


def draw_tuned(path: Path, asked: ResultsOptions) -> None:
    """Draw the times of a tuned file's versions over the input, or print their numbers.

    Args:
        path: of the file.
        asked: the options; JSON for the numbers.

    Raises:
        InvalidInputError: no such file or feature, or it can't be written.
    """
    # Imported late: they load matplotlib.
    from coarsen.dispatch.tuned_file import TunedFile
    from coarsen.opencl_bench.reporting.draw_input_times import draw_input_times, input_times
    from coarsen.opencl_bench.reporting.sheet import save

    file = TunedFile.read(path)
    if asked.is_json:
        print_json(asdict(input_times(file, asked.over)))
    if asked.output is not None:
        save(draw_input_times(file, asked.over), asked.output)
        note(f"written: {asked.output}")


def write_page(results: Results | None, asked: ResultsOptions, tuned: Sequence[Path]) -> None:
    """Write a page for a browser.

    Args:
        results: None for a page of tuned files alone.
        asked: the options.
        tuned: files of kernels that are tuned over inputs.

    Raises:
        InvalidInputError: the file can't be written, or a tuned file can't be read.
    """
    # Imported late: it loads the template engine and the models.
    from coarsen.base.processes import processors
    from coarsen.opencl_bench.reporting.page.page import write_report
    from coarsen.opencl_bench.workloads.lookup import known_kernel

    assert asked.output is not None
    names = () if results is None else results.benchmarks
    write_report(results, asked.output, kernels=asked.descriptions, processes=processors(), tuned=tuple(tuned))
    unknown = [name for name in names if known_kernel(name, asked.descriptions) is None]
    if unknown:
        more = f" and {len(unknown) - _NAMED} more" if len(unknown) > _NAMED else ""
        note(f"without source, for want of --descriptions FOLDER: {', '.join(unknown[:_NAMED])}{more}")
    note(f"written: {asked.output}")
