"""The demonstration and `coarsen predict` tell the same of a kernel."""

from __future__ import annotations

import io

from rich.console import Console

from coarsen.api import predict
from coarsen.opencl_bench.demo import ABSENT_DEVICE, KERNEL, show_predictions
from coarsen.opencl_bench.workloads.lookup import benchmark


def test_both_models_answer_under_their_names() -> None:
    chosen = benchmark(KERNEL)
    console = Console(file=io.StringIO(), width=200, color_system=None)
    with console.capture() as capture:
        factor = show_predictions(console, chosen)
    shown = capture.get()
    default, cascade = (
        predict(chosen.kernel_file, device=ABSENT_DEVICE, kernel=chosen.kernel, model=model).factor
        for model in ("default", "cascade")
    )
    assert factor == cascade
    assert f"published cascade: {cascade} (--model cascade)" in shown
    assert f"a loss counts more than a gain: {default} (coarsen predict)" in shown
    assert ("They differ" in shown) is (default != cascade)
