"""Measurements as one self-contained page for a browser.

    write_report(read_results("results.parquet"), "report.html")

results ─▶ places, best configurations, curves, failures, sources ─▶ Report ─▶ one HTML file
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coarsen.lazy_names import lazy_names

if TYPE_CHECKING:
    from coarsen.opencl_bench.reporting.page.write import write_report

__all__ = ["write_report"]

__getattr__, __dir__ = lazy_names(__name__, {"write_report": f"{__name__}.write"})
