"""The demonstration and `coarsen predict` tell the same of a kernel."""

from __future__ import annotations

import io

from rich.console import Console

from coarsen.api import predict
from coarsen.opencl_bench.demo import ABSENT_DEVICE, KERNEL, show_predictions
from coarsen.opencl_bench.workloads.lookup import benchmark


def test_the_cascade_answers() -> None:
    chosen = benchmark(KERNEL)
    console = Console(file=io.StringIO(), width=200, color_system=None)
    with console.capture() as capture:
        factor = show_predictions(console, chosen)
    assert factor == predict(chosen.kernel_file, device=ABSENT_DEVICE, kernel=chosen.kernel).factor
    assert f"published cascade: {factor} (coarsen predict)" in capture.get()
