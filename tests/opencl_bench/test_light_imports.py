"""What works where little is installed: drivers with NumPy and PyOpenCL alone, figures without training."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

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
from coarsen.tuning.measure import comparison
from coarsen.tuning.measure import run
from coarsen.tuning.records import code
from coarsen.tuning.records import measurement
from coarsen.tuning.engine import plan
from coarsen.opencl_bench.workloads.lookup import SUITE

limits = plan.DeviceLimits(1024, (1024, 1024, 1024), 1 << 16)
for name, benchmark in SUITE.items():
    workload = benchmark.workload("test")
    expected = workload.reference()
    assert comparison.compare(expected, expected, workload) == []
    assert plan.points(benchmark, "test", plan.Space(), limits)
try:
    import rich
except ModuleNotFoundError:
    print(len(SUITE), "without rich")
"""


def test_drivers_need_numpy_and_pyopencl_only() -> None:
    result = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False)
    assert (result.stdout, result.stderr) == ("17 without rich\n", "")


WITHOUT_TRAINING = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("sklearn", "torch", "scipy"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
from pathlib import Path
from coarsen.opencl_bench import plots, shipped_results, write_report

results = shipped_results("pocl").only(benchmarks=["mt"])
plots.save(plots.draw_curves(results.frame()), Path(sys.argv[1]) / "curves.png")
write_report(results, Path(sys.argv[1]) / "report.html")
"""


def test_exploring_does_without_the_packages_of_training(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WITHOUT_TRAINING, str(tmp_path)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (result.stdout, result.stderr) == ("", "")
    assert {path.name for path in tmp_path.iterdir()} == {"curves.png", "report.html"}
