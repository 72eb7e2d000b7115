"""The benchmark suite: OpenCL kernels, host drivers with references, running, comparing and timing them.

    results = shipped_results("pocl")                         # or read_results(FILE), stored_results()
    results = measure_kernels(["sgemm", Path("mine.toml")], "pocl")
    results.best()                                            # a pandas frame
    plots.draw_curves(results.frame())                        # a Matplotlib figure

Names are loaded when first used, and so are the packages that they need.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coarsen.lazy_names import lazy_names

if TYPE_CHECKING:
    from .benchmark import Benchmark
    from .curve_files import read_curves
    from .curves import Curve, CurveData
    from .kernel_features import Examples, examples_of
    from .measured_kernels import measure_kernels
    from .measurement import Measurement, Method
    from .report_page.write import write_report
    from .results import Results, read_results, shipped_results, stored_results
    from .suite import SUITE, find_benchmark
    from .sweep_plan import Space

__all__ = [
    "SUITE",
    "Benchmark",
    "Curve",
    "CurveData",
    "Examples",
    "Measurement",
    "Method",
    "Results",
    "Space",
    "examples_of",
    "find_benchmark",
    "measure_kernels",
    "read_curves",
    "read_results",
    "shipped_results",
    "stored_results",
    "write_report",
]

_MODULE_OF = {
    "SUITE": "suite",
    "Benchmark": "benchmark",
    "Curve": "curves",
    "CurveData": "curves",
    "Examples": "kernel_features",
    "Measurement": "measurement",
    "Method": "measurement",
    "Results": "results",
    "Space": "sweep_plan",
    "examples_of": "kernel_features",
    "find_benchmark": "suite",
    "measure_kernels": "measured_kernels",
    "read_curves": "curve_files",
    "read_results": "results",
    "shipped_results": "results",
    "stored_results": "results",
    "write_report": "report_page.write",
}

__getattr__, __dir__ = lazy_names(__name__, {name: f"{__name__}.{module}" for name, module in _MODULE_OF.items()})
