"""Measuring kernels from Python: what comes back, what a store keeps, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from coarsen.devices.discovery import DeviceDescription
from coarsen.errors import DeviceError, InvalidInputError
from coarsen.opencl_bench import Method, Space, measure_kernels, stored_results
from coarsen.opencl_bench.sweep import several as module
from coarsen.opencl_bench.sweep.several import SweepResult, SweepsObserver
from coarsen.tuning.engine.plan import SweepPlan
from coarsen.tuning.records.measurement import Invalidity, Role

METHOD = Method(repetitions=3, minimum_repetitions=3)
SPACE = Space(factors=(1, 2), strides=(1,), dimensions=(0,), local_sizes=((8, 8),))
KERNEL = """
kernel void scale(global float *values, int count)
{
    int i = get_global_id(0);
    if (i < count)
        values[i] *= 2.0f;
}
"""
DESCRIPTION = """
file = "scale.cl"
kernel = "scale"
outputs = ["values"]
arguments = [
    { name = "values", buffer = "float", elements = "n", values = "uniform(-1, 1)" },
    { name = "count", scalar = "int", value = "n" },
]
[ndrange]
global_size = ["(n + local_size_0 - 1) // local_size_0 * local_size_0"]
local_size = [32]
local_sizes = [[32], [64]]
[sizes.test]
n = 1000
"""


class Finished(SweepsObserver):
    """Remembers how many configurations each sweep measured now."""

    def __init__(self) -> None:
        self.measured: dict[str, int] = {}

    def finished(self, result: SweepResult) -> None:
        self.measured[result.benchmark] = len(result.measured_rows)


@pytest.fixture
def described(tmp_path: Path) -> Path:
    """The description of a user's kernel."""
    (tmp_path / "scale.cl").write_text(KERNEL)
    path = tmp_path / "scale.toml"
    path.write_text(DESCRIPTION)
    return path


@pytest.mark.compiled_devices
def test_a_store_keeps_what_was_measured(device: DeviceDescription, tmp_path: Path) -> None:
    store = tmp_path / "kept.sqlite"
    first, second = Finished(), Finished()
    for observer in (first, second):
        found = measure_kernels(
            "mt",
            device.index,
            preset="test",
            space=SPACE,
            method=METHOD,
            store=store,
            confirms=False,
            observer=observer,
        )
    assert (first.measured, second.measured) == ({"mt": 3}, {"mt": 0})
    assert found.devices == (device.name,)
    assert {row.invalidity for row in found.measurements} == {Invalidity.CORRECT}
    assert sorted(row.key for row in stored_results(str(store)).measurements) == sorted(
        row.key for row in found.measurements
    )
    with pytest.raises(InvalidInputError, match=f"no measurement in {store} is of what was asked for"):
        found.only(benchmarks=["sgemm"])


def test_a_users_kernel_at_its_own_local_size(
    described: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    monkeypatch.chdir(described.parent)
    found = measure_kernels(
        ["scale.toml"],
        "intel",
        preset="test",
        space=Space(factors=(1, 4), strides=(1,), local_sizes=((32,),)),
        method=METHOD,
    )
    assert found.benchmarks == ("scale",)
    assert {row.candidate.local_size for row in found.measurements} == {(32,)}
    assert {row.role for row in found.measurements} == set(Role)
    (curve,) = found.curves(described.parent).curves
    assert (curve.kernel, curve.device, curve.dimension, curve.local_size) == ("scale", "intel", 0, (32,))
    assert list(curve.speedup) == [4]
    with pytest.raises(InvalidInputError, match="no measurement in what was measured is of"):
        found.only(preset="cpu")


def test_the_usual_space_unless_asked_otherwise(described: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plans = planned(monkeypatch)
    measure_kernels(described, "intel", preset="test")
    measure_kernels([described, "mt"], "intel", preset="test")
    assert [plan.benchmark for plan in plans] == [described, described, "mt"]
    assert all(plan.space == Space() and plan.confirms and plan.method == Method() for plan in plans)


@pytest.mark.parametrize(
    ("kernels", "preset", "message"),
    [
        ([], "test", "there is no kernel to measure"),
        (["mt", "nothing"], "test", "no benchmark 'nothing'; there are"),
        (["mt", Path("nothing.toml")], "test", "nothing.toml"),
        (["mt", "launch-0-0"], "paper", "launch-0-0: no preset 'paper'; there are"),
    ],
)
def test_a_mistake_shows_before_anything_is_measured(
    kernels: list[str | Path], preset: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plans = planned(monkeypatch)
    with pytest.raises(InvalidInputError, match=message):
        measure_kernels(kernels, "intel", preset=preset)
    assert plans == []


def test_no_such_device() -> None:
    with pytest.raises(DeviceError, match="no OpenCL device is called 'nothing'"):
        measure_kernels(["mt"], "nothing")


def planned(monkeypatch: pytest.MonkeyPatch) -> list[SweepPlan]:
    """The plans that would have been measured, from now on."""
    plans: list[SweepPlan] = []

    def note(given: list[SweepPlan], *_: object) -> list[SweepResult]:
        plans.extend(given)
        return []

    monkeypatch.setattr(module, "sweep_all", note)
    return plans
