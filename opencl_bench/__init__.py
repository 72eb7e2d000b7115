"""The benchmark suite: OpenCL kernels, host drivers with references, running, comparing and timing them.

    results = shipped_results("pocl")                         # or read_results(FILE), stored_results()
    results = measure_kernels(["sgemm", Path("mine.toml")], "pocl")
    results.best()                                            # a pandas frame
    plots.draw_curves(results.frame())                        # a Matplotlib figure

Names are loaded when first used, and so are the packages that they need.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coarsen.base.names import lazy_names

if TYPE_CHECKING:
    from coarsen.dispatch.tuned_file import TunedFile
    from coarsen.models.examples import Curve
    from coarsen.opencl_bench.inputs.over_inputs import tune_inputs
    from coarsen.opencl_bench.reporting.page.page import write_report
    from coarsen.opencl_bench.results.measured_curves import CurveData, Examples, examples_of, read_curves
    from coarsen.opencl_bench.results.results import Results, read_results, shipped_results, stored_results
    from coarsen.opencl_bench.sweep.several import measure_kernels
    from coarsen.opencl_bench.workloads.lookup import SUITE, find_benchmark
    from coarsen.tuning.engine.plan import Space
    from coarsen.tuning.records.measurement import Measurement, Method
    from coarsen.tuning.workload.benchmark import Benchmark


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
    "TunedFile",
    "examples_of",
    "find_benchmark",
    "measure_kernels",
    "read_curves",
    "read_results",
    "shipped_results",
    "stored_results",
    "tune_inputs",
    "write_report",
]

_NAMES_IN = {
    "coarsen.dispatch.tuned_file": ("TunedFile",),
    "coarsen.models.examples": ("Curve",),
    "coarsen.tuning.engine.plan": ("Space",),
    "coarsen.tuning.records.measurement": ("Measurement", "Method"),
    "coarsen.tuning.workload.benchmark": ("Benchmark",),
    f"{__name__}.inputs.over_inputs": ("tune_inputs",),
    f"{__name__}.reporting.page.page": ("write_report",),
    f"{__name__}.results.measured_curves": ("CurveData", "Examples", "examples_of", "read_curves"),
    f"{__name__}.results.results": ("Results", "read_results", "shipped_results", "stored_results"),
    f"{__name__}.sweep.several": ("measure_kernels",),
    f"{__name__}.workloads.lookup": ("SUITE", "find_benchmark"),
}

__getattr__, __dir__ = lazy_names(
    __name__, {name: module for module, names in _NAMES_IN.items() for name in names}
)
