"""Tuning tries by itself whether arguments may be taken as distinct: for which launches, and what comes of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from coarsen.devices.discovery import DeviceDescription
from coarsen.frontend.lower import lower
from coarsen.ir.kernel import Kernel
from coarsen.tuning import tuner
from coarsen.tuning.engine.live_evaluator import RacingEvaluator
from coarsen.tuning.engine.plan import Space
from coarsen.tuning.launch_space import gains_by_distinct, with_distinct
from coarsen.tuning.progress import Deadline
from coarsen.tuning.search.evaluator import Trial
from coarsen.tuning.search.spaces import Choice
from coarsen.tuning.settings import Tune
from coarsen.tuning.tuner import tune_benchmark
from coarsen.tuning.tuning_processes import LaunchToTune
from coarsen.tuning.workload.benchmark import Benchmark
from coarsen.tuning.workload.captured_benchmark import PRESET, read_launch
from coarsen.tuning.workload.captured_launch import CapturedBuffer, CapturedLaunch, write_launch
from coarsen.tuning.workload.launch_list import PassedShared
from coarsen.variant.transforms import DEFAULT, Transforms

COUNT = 256
ACCUMULATING = """
kernel void sum(global const int *a, global int *c)
{
    int i = get_global_id(0);
    for (int k = 0; k < 8; k++)
        c[i] += a[k] * i;
}
"""
BODIES = {
    "no loop, no load after a store": ("c[i] = a[i];", False),
    "a sum in a variable": ("int s = 0; for (int k = 0; k < 8; k++) s += a[k]; c[i] = s;", False),
    "a load after a store": ("c[i] = a[i]; c[i + 1] = a[i + 1];", True),
    "a load after a store of the round before": ("for (int k = 0; k < 8; k++) c[i * 8 + k] = a[k];", True),
    "a load of what is stored": ("c[i] = 1; c[i + 1] = c[i] + 1;", False),
    "a sum in memory": ("for (int k = 0; k < i; k++) c[i] += k;", True),
}


def captured(source: str, second: PassedShared | None = None) -> CapturedLaunch:
    """A launch of `sum` with two buffers, or with one twice."""
    made = CapturedBuffer(np.arange(COUNT, dtype=np.int32).view(np.uint8))
    return CapturedLaunch(source, (), "sum", (COUNT,), (16,), (made, second or made))


def kernel_of(launch: CapturedLaunch) -> Kernel:
    return lower(launch.source, launch.kernel)


def written(launch: CapturedLaunch, folder: Path) -> Benchmark:
    write_launch(launch, folder / "sum.npz")
    return read_launch(folder / "sum.npz")


@pytest.mark.parametrize(("body", "gains"), BODIES.values(), ids=BODIES.keys())
def test_where_other_code_can_come_of_it(body: str, gains: bool) -> None:
    source = f"kernel void sum(global const int *a, global int *c) {{ int i = get_global_id(0); {body} }}"
    assert gains_by_distinct(kernel_of(captured(source))) == gains


def test_a_pointer_that_is_loaded_leaves_nothing_to_gain() -> None:
    source = """
    kernel void sum(global const ulong *a, global int *c)
    {
        int i = get_global_id(0);
        for (int k = 0; k < 8; k++)
            c[i] += *(global int *)a[k];
    }
    """
    assert not gains_by_distinct(kernel_of(captured(source)))


def test_a_buffer_that_is_passed_twice_leaves_the_space_as_it_is(tmp_path: Path) -> None:
    kernel = kernel_of(captured(ACCUMULATING))
    apart, together = (written(captured(ACCUMULATING, second), tmp_path) for second in (None, PassedShared(0)))
    assert with_distinct(Space(), apart, PRESET, kernel).transforms.distinct == (False, True)
    assert with_distinct(Space(), together, PRESET, kernel) == Space()


@pytest.mark.compiled_devices
@pytest.mark.parametrize("is_allowed", [True, False])
def test_a_search_tries_it_where_it_is_allowed(
    device: DeviceDescription, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, is_allowed: bool
) -> None:
    tried: list[Transforms] = []

    class Watched(RacingEvaluator):
        def evaluate(self, choice: Choice) -> Trial:
            tried.append(self._variants.variant(choice).transforms)
            return super().evaluate(choice)

    monkeypatch.setattr(tuner, "RacingEvaluator", Watched)
    settings = Tune(seconds=200, trials=2, levels=("item",), local_sizes=False, distinct=is_allowed)
    # What the program itself allows where nothing is remembered is no part of it.
    transforms = replace(DEFAULT, distinct=True)
    benchmark, file = written(captured(ACCUMULATING), tmp_path), str(tmp_path / "sum.npz")
    launch = LaunchToTune(benchmark, file, "the kernel 'sum'", PRESET, device, transforms)
    found = tune_benchmark(launch, False, settings, Deadline(settings.seconds))
    assert (found.trials, found.wrong) == (2, ())
    assert any(each.distinct for each in tried) == is_allowed
