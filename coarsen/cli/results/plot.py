"""`coarsen results plot`: the curves of measurements, or a page for a browser.

-o NAME.svg .png .pdf       speed-up against coarsening factor
-o NAME.html                one page: curves, choices, failures
-f json                     the numbers that a figure is drawn from
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from coarsen.cli.declared import argument, option
from coarsen.cli.messages import note
from coarsen.cli.options import format_option
from coarsen.cli.output import Format, check_writable, print_json
from coarsen.cli.stores import check_packages, store_option
from coarsen.errors import InvalidInputError

if TYPE_CHECKING:
    from coarsen.opencl_bench.results.results import Results
    from coarsen.tuning.records.measurement import Measurement
    from coarsen.tuning.remembered.choice import RememberedChoice
    from coarsen.tuning.store.database import Store
    from coarsen.tuning.store.schema import Filter


PAGE_SUFFIX = ".html"
PLOTTING = ("matplotlib", "pandas", "pyarrow", "sqlalchemy")


def is_page(asked: ResultsOptions) -> bool:
    """Return True for a page for a browser."""
    return asked.output is not None and asked.output.suffix == PAGE_SUFFIX


def check(asked: ResultsOptions) -> None:
    """Find out before anything is read whether a figure or a page can be made.

    Args:
        asked: the options.

    Raises:
        InvalidInputError: no output is named, or one that can't be written; options for another figure.
    """
    if asked.output is None and not asked.is_json:
        raise InvalidInputError("no output given: use -o FILE.svg, -o FILE.html or -f json")
    of_figures = {"--by": asked.by != "device", "--choice": asked.choice != "best", "--format": asked.is_json}
    for name, is_given in of_figures.items():
        if is_given and is_page(asked):
            raise InvalidInputError(f"{name} is not for a page")
    if asked.output is None:
        return
    if is_page(asked):
        check_packages(("jinja2",), "the page")
        check_writable(asked.output)
    else:
        # Imported late: it loads matplotlib.
        from coarsen.opencl_bench.reporting.sheet import file_type

        file_type(asked.output)


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


def write_page(results: Results, asked: ResultsOptions) -> None:
    """Write a page for a browser.

    Args:
        results: the measurements.
        asked: the options.

    Raises:
        InvalidInputError: the file can't be written.
    """
    # Imported late: it loads the template engine and the models.
    from coarsen.base.processes import processors
    from coarsen.opencl_bench.reporting.page.page import write_report

    assert asked.output is not None
    write_report(results, asked.output, processes=processors())
    note(f"written: {asked.output}")


@dataclass(frozen=True, kw_only=True)
class ResultsOptions:
    """The options of `coarsen results`."""

    action: str = argument(
        "ls, best, show, plot, export, import or forget.", "ACTION", default="ls", show_default="ls"
    )
    words: list[str] | None = argument("What the action is for, as above.", "KEY|FILE", default=None)
    kernel: list[str] | None = option("Only of this benchmark or kernel. May be repeated.", "NAME", "-k --kernel")
    device: list[str] | None = option(
        "Only of devices with this in their name. Repeatable.", "NAME", "-d --device"
    )
    preset: str | None = option("Only rows of this preset.", "NAME")
    remembered: bool = option("Choices that tuning found, and no measured rows.", default=False)
    source: list[Path] | None = option(
        "Plot, or list the best of, a file instead: .parquet or .jsonl. May be repeated.", "FILE", "--from"
    )
    store: str | None = store_option()
    output: Path | None = option(
        "Plot there: a figure .svg, .png or .pdf, or a page .html.", "FILE", "-o --output"
    )
    by: Literal["device", "dimension", "stride"] = option(
        "What a curve is of; all but device are of one device.", default="device"
    )
    choice: Literal["best", "baseline"] = option(
        "What the curves take at each factor: the best, or the best with the baseline's local size.",
        default="best",
    )
    every: bool = option("Forget everything that is remembered.", None, "--all", default=False)
    output_format: Format = format_option()

    @property
    def is_json(self) -> bool:
        """Return True if JSON is to be printed."""
        return self.output_format is Format.JSON

    def rows(self, store: Store) -> Iterator[Measurement]:
        """Return the rows of a store that are meant, each once."""
        from coarsen.tuning.store.schema import Filter

        filters = [Filter(benchmark=kernel, device=device, preset=self.preset) for kernel, device in self._pairs()]
        if len(filters) == 1:
            return store.measurements(filters[0])
        return iter({row.key: row for each in filters for row in store.measurements(each)}.values())

    def choices(self, store: Store) -> list[RememberedChoice]:
        """Return the choices that a store remembers and that are meant, each once."""
        found = {each.key.digest: each for wanted in self.filters() for each in store.remembered.choices(wanted)}
        return list(found.values())

    def filters(self) -> list[Filter]:
        """Return the filters of choices."""
        from coarsen.tuning.store.schema import Filter

        return [Filter(kernel=kernel, device=device) for kernel, device in self._pairs()]

    def _pairs(self) -> Iterable[tuple[str | None, str | None]]:
        return itertools.product(self.kernel or (None,), self.device or (None,))
