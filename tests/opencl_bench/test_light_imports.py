"""The drivers work where only Python, NumPy and PyOpenCL are installed."""

from __future__ import annotations

import subprocess
import sys

# PyOpenCL's own dependencies are there wherever it is.
INSTALLED = ("numpy", "pyopencl", "platformdirs", "pytools", "siphash24", "typing_extensions", "coarsen")

SCRIPT = f"""
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if top not in {INSTALLED!r} and top not in sys.stdlib_module_names:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Absent())
from coarsen.opencl_bench import candidate, comparison, measurement, run, space
from coarsen.opencl_bench.suite import SUITE
from coarsen.opencl_bench.sweep_plan import Space

limits = space.DeviceLimits(1024, (1024, 1024, 1024), 1 << 16)
for name, benchmark in SUITE.items():
    workload = benchmark.workload("test")
    expected = workload.reference()
    assert comparison.compare(expected, expected, workload) == []
    assert space.points(benchmark, "test", Space(), limits)
try:
    import rich
except ModuleNotFoundError:
    print(len(SUITE), "without rich")
"""


def test_drivers_need_numpy_and_pyopencl_only() -> None:
    result = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False)
    assert (result.stdout, result.stderr) == ("17 without rich\n", "")
