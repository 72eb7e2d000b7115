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
    from coarsen.opencl_bench.results.curves import CurveData
    from coarsen.opencl_bench.results.examples import Examples, examples_of
    from coarsen.opencl_bench.results.measured_curves import read_curves
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

_MODULE_OF = {
    "SUITE": "workloads.lookup",
    "Benchmark": "coarsen.tuning.workload.benchmark",
    "Curve": "coarsen.models.examples",
    "CurveData": "results.curves",
    "Examples": "results.examples",
    "Measurement": "coarsen.tuning.records.measurement",
    "Method": "coarsen.tuning.records.measurement",
    "Results": "results.results",
    "Space": "coarsen.tuning.engine.plan",
    "examples_of": "results.examples",
    "find_benchmark": "workloads.lookup",
    "measure_kernels": "sweep.several",
    "read_curves": "results.measured_curves",
    "read_results": "results.results",
    "shipped_results": "results.results",
    "stored_results": "results.results",
    "tune_inputs": "inputs.over_inputs",
    "write_report": "reporting.page.page",
}

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        **{
            name: module if module.startswith("coarsen.") else f"{__name__}.{module}"
            for name, module in _MODULE_OF.items()
        },
        "TunedFile": "coarsen.dispatch.tuned_file",
    },
)
