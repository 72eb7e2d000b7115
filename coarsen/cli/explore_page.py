"""`coarsen explore --html`: stored measurements as one page for a browser."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from coarsen.cli.folders import existing_folder
from coarsen.cli.messages import note
from coarsen.errors import InvalidInputError

if TYPE_CHECKING:
    from coarsen.opencl_bench.results.results import Results


# From this number of kernels on, the page takes long enough that a note says so.
_MANY = 30
# The most names in a note.
_NAMED = 3


@dataclass(frozen=True, slots=True)
class Page:
    """What is to be on the page.

    Args:
        path: the file to write.
        kernels: the folder that describes kernels which are not the suite's.
        tuned: files of kernels that are tuned over inputs.
    """

    path: Path
    kernels: Path | None = None
    tuned: tuple[Path, ...] = ()


def page_asked_for(html: Path | None, kernels: Path | None, tuned: Sequence[Path] = ()) -> Page | None:
    """Return the page that the options of these names mean; None where none is asked for.

    Raises:
        InvalidInputError: there is no such folder of kernels, or no page to describe kernels for.
    """
    if html is None and kernels is not None:
        raise InvalidInputError("--kernels is for --html")
    return None if html is None else Page(html, existing_folder("--kernels", kernels), tuple(tuned))


def check_page(page: Page, others: Sequence[str]) -> None:
    """Find out before anything is read whether the page can be made.

    Args:
        page: what is asked for.
        others: options that were given and ask for something else.

    Raises:
        InvalidInputError: there are such options; a package is missing; the file can't be written there.
    """
    if others:
        raise InvalidInputError(f"--html writes a page of its own; leave out {' and '.join(others)}")
    if importlib.util.find_spec("jinja2") is None:
        raise InvalidInputError("the page needs one more package: pip install 'coarsen[bench]'")
    folder = page.path.absolute().parent
    if page.path.is_dir():
        raise InvalidInputError(f"{page.path}: can't be written: it is a folder")
    if not folder.is_dir():
        raise InvalidInputError(f"{page.path}: can't be written: there is no folder {folder}")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InvalidInputError(f"{page.path}: can't be written: {folder} is closed to you")


def write_page(results: Results | None, page: Page) -> None:
    """Write the page.

    Args:
        results: None for a page of tuned files alone.
        page: what is to be on it.

    Raises:
        InvalidInputError: the file can't be written, or a tuned file can't be read.
    """
    # Imported late: it loads the template engine and the models.
    from coarsen.opencl_bench.reporting.page.page import write_report
    from coarsen.opencl_bench.workloads.kernel_source import known_kernel
    from coarsen.processes import processors

    names = () if results is None else results.benchmarks
    if len(names) > _MANY:
        note(f"coarsening and drawing {len(names)} kernels")
    write_report(results, page.path, kernels=page.kernels, processes=processors(), tuned=page.tuned)
    unknown = [name for name in names if known_kernel(name, page.kernels) is None]
    if unknown:
        note(_without_source(unknown, page))
    note(f"written: {page.path}")


def _without_source(names: Sequence[str], page: Page) -> str:
    """Return what the page lacks of kernels that are neither the suite's nor described, and what mends it."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    remedy = "--kernels FOLDER names the folder with descriptions (NAME.toml)"
    why = remedy if page.kernels is None else "it says why"
    return f"the page has no source of {', '.join(names[:_NAMED])}{more}; {why}"
