"""Writing the page."""

from __future__ import annotations

from pathlib import Path

from coarsen.files import replace_file
from coarsen.opencl_bench.reporting.page.extract import report_of
from coarsen.opencl_bench.reporting.page.page import page_of
from coarsen.opencl_bench.results.results import Results


def write_report(
    results: Results, path: str | Path, *, kernels: str | Path | None = None, processes: int | None = None
) -> None:
    """Write measurements as one self-contained HTML page, which a browser shows without any network.

    It has the best configuration of each kernel on each device, speed-up curves with intervals, what the default
    model chooses beside the best factor, what failed and why, and the source before and after. Measurements of
    several devices at several presets go into one page; nothing compares times across them.

    Args:
        results: of any kernels and devices, at least one measurement.
        path: the file, written in one step in place of one that may be there.
        kernels: a folder with the descriptions (NAME.toml) of kernels that are not the suite's; without it their
            source is not known.
        processes: how many predict and coarsen. None: as many as there are processors, but for a script just one;
            one that has its work under `if __name__ == "__main__":` may say more.

    Raises:
        InvalidInputError: the file can't be written.
    """
    report = report_of(results, None if kernels is None else Path(kernels), processes)
    replace_file(page_of(report).encode(), Path(path))
