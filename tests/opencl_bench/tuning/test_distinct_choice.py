"""Tuning tries by itself whether arguments may be taken as distinct: for which launches, and what comes of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from coarsen.devices.discovery import DeviceDescription
from coarsen.frontend.device_macros import PORTABLE
from coarsen.opencl_bench.search.evaluator import Trial
from coarsen.opencl_bench.search.spaces import Choice
from coarsen.opencl_bench.sweep.distinct_choice import gains_by_distinct, with_distinct
from coarsen.opencl_bench.sweep.plan import Space
from coarsen.opencl_bench.tuning import tuner
from coarsen.opencl_bench.tuning.captured_tuning import tune_captured
from coarsen.opencl_bench.tuning.deadline import Deadline
from coarsen.opencl_bench.tuning.racing_evaluator import RacingEvaluator
from coarsen.opencl_bench.tuning.settings import Tune
from coarsen.opencl_bench.workloads.benchmark import Benchmark
from coarsen.opencl_bench.workloads.described.captured import write_capture
from coarsen.opencl_bench.workloads.described.captured_launch import CapturedBuffer, CapturedLaunch
from coarsen.opencl_bench.workloads.described.passed_arguments import PassedShared
from coarsen.opencl_bench.workloads.lookup import find_benchmark
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


def described(launch: CapturedLaunch, folder: Path) -> Benchmark:
    return find_benchmark(write_capture(launch, folder, "sum"))


@pytest.mark.parametrize(("body", "gains"), BODIES.values(), ids=BODIES.keys())
def test_where_other_code_can_come_of_it(body: str, gains: bool, tmp_path: Path) -> None:
    source = f"kernel void sum(global const int *a, global int *c) {{ int i = get_global_id(0); {body} }}"
    assert gains_by_distinct(described(captured(source), tmp_path), PORTABLE) == gains


def test_a_pointer_that_is_loaded_leaves_nothing_to_gain(tmp_path: Path) -> None:
    source = """
    kernel void sum(global const ulong *a, global int *c)
    {
        int i = get_global_id(0);
        for (int k = 0; k < 8; k++)
            c[i] += *(global int *)a[k];
    }
    """
    assert not gains_by_distinct(described(captured(source), tmp_path), PORTABLE)


def test_a_buffer_that_is_passed_twice_leaves_the_space_as_it_is(tmp_path: Path) -> None:
    apart, together = (described(captured(ACCUMULATING, second), tmp_path) for second in (None, PassedShared(0)))
    assert with_distinct(Space(), apart, "test", PORTABLE).transforms.distinct == (False, True)
    assert with_distinct(Space(), together, "test", PORTABLE) == Space()


@pytest.mark.compiled_devices
@pytest.mark.parametrize("is_allowed", [True, False])
def test_a_search_tries_it_where_it_is_allowed(
    device: DeviceDescription, monkeypatch: pytest.MonkeyPatch, is_allowed: bool
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
    launch = captured(ACCUMULATING)
    found = tune_captured(launch, device, transforms, False, settings, Deadline(settings.seconds))
    assert (found.trials, found.wrong) == (2, ())
    assert any(each.distinct for each in tried) == is_allowed
