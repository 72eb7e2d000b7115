"""Writing the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from coarsen.errors import InvalidInputError
from coarsen.files import replace_file
from coarsen.opencl_bench.reporting.page.content import Report
from coarsen.opencl_bench.reporting.page.extract import report_of
from coarsen.opencl_bench.reporting.page.page import page_of
from coarsen.opencl_bench.reporting.page.tuned_extract import tuned_sections
from coarsen.opencl_bench.results.results import Results


def write_report(
    results: Results | None,
    path: str | Path,
    *,
    kernels: str | Path | None = None,
    processes: int | None = None,
    tuned: Sequence[str | Path] = (),
) -> None:
    """Write measurements as one self-contained HTML page, which a browser shows without any network.

    It has the best configuration of each kernel on each device, speed-up curves with intervals, what failed and
    why, and the source before and after. Measurements of
    several devices at several presets go into one page; nothing compares times across them. Of tuned files it has
    the time of each version over the input, the chosen one marked, and break-even points.

    Args:
        results: of any kernels and devices, at least one measurement; None for a page of tuned files alone.
        path: the file, written in one step in place of one that may be there.
        kernels: a folder with the descriptions (NAME.toml) of kernels that are not the suite's; without it their
            source is not known.
        processes: how many coarsen. None: as many as there are processors, but for a script just one;
            one that has its work under `if __name__ == "__main__":` may say more.
        tuned: files that `coarsen tune` wrote over inputs.

    Raises:
        InvalidInputError: the file can't be written, a tuned file can't be read or keeps no times, or there is
            nothing to write.
    """
    sections = tuned_sections([Path(each) for each in tuned])
    if results is not None:
        report = report_of(results, None if kernels is None else Path(kernels), processes)
    elif sections:
        report = Report("", 0, "", "", 0, (), ())
    else:
        raise InvalidInputError("a page needs measurements or tuned files: give some")
    origin = ", ".join(filter(None, (report.origin, *(each.origin for each in sections))))
    replace_file(page_of(replace(report, origin=origin, tuned=sections)).encode(), Path(path))
