"""A small page with everything that a page may have: two kernels on three devices at two presets."""

from __future__ import annotations

from pathlib import Path

import pytest

from coarsen.opencl_bench import Results, shipped_results
from coarsen.opencl_bench.reporting.page.content import KernelSection, Report
from coarsen.opencl_bench.reporting.page.extract import report_of
from coarsen.opencl_bench.reporting.page.page import page_of
from tests.browser import browser, open_page, pytest_collection_modifyitems

__all__ = ["browser", "open_page", "pytest_collection_modifyitems"]

KERNELS = ("sobel", "spmv")


@pytest.fixture(scope="session")
def results() -> Results:
    """PoCL at preset cpu; an H200 at preset gpu, given OpenCL C and PTX."""
    return shipped_results("pocl", "h200").only(benchmarks=KERNELS)


@pytest.fixture(scope="session")
def report(results: Results) -> Report:
    return report_of(results)


@pytest.fixture(scope="session")
def html(report: Report) -> str:
    return page_of(report)


@pytest.fixture(scope="session")
def file(html: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page as a file, in a folder whose name browsers have to escape."""
    path = tmp_path_factory.mktemp("a page") / "report.html"
    path.write_text(html, encoding="utf-8")
    return path


def section_of(report: Report, name: str) -> KernelSection:
    return next(kernel for kernel in report.kernels if kernel.name == name)
