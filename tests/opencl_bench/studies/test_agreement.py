"""Fast path and lock-step on against off: how it is measured, what the code alone says, which targets are met."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from coarsen.devices.discovery import DeviceDescription
from coarsen.errors import InvalidInputError, VerificationError
from coarsen.opencl_bench.measure.machine import Durations, Executor, Job
from coarsen.opencl_bench.measure.opencl_machine import OpenClMachine
from coarsen.opencl_bench.measure.speedup import Speedup
from coarsen.opencl_bench.records.code import Code
from coarsen.opencl_bench.studies import agreement_table
from coarsen.opencl_bench.studies.agreement import Asked, TransformComparison, measured_rows
from coarsen.opencl_bench.studies.agreement_targets import best_rows, targets
from coarsen.opencl_bench.studies.static_effects import StaticEffect, mean_shares, static_effects
from coarsen.opencl_bench.workloads.benchmark import Array, Launch, Workload
from coarsen.opencl_bench.workloads.clock import Clock
from coarsen.opencl_bench.workloads.lookup import SUITE
from coarsen.variant.transforms import DeviceKind
from coarsen.variant.variant import Variant

TWO_KERNELS = {name: SUITE[name] for name in ("spmv", "mt")}


def row(
    benchmark: str = "spmv", factor: int = 2, on: float = 1.0, gain: float = 1.0, same: bool = False
) -> TransformComparison:
    times = {"original": 1.0, "off": 1.0, "on": 1.0}
    gained = Speedup(gain, gain - 0.01, gain + 0.01)
    return TransformComparison(
        benchmark, 0, factor, (64,), times, Speedup(on / gain, 0, 9), Speedup(on, 0, 9), gained, same
    )


def effect(benchmark: str, on: int, interleaved: float = 0.0, copied: float = 0.0) -> StaticEffect:
    return StaticEffect(benchmark, 0, 100, on, 1 - interleaved - copied, interleaved, copied)


@pytest.mark.compiled_devices
def test_a_kernel_is_verified_and_measured(device: DeviceDescription) -> None:
    rows = list(measured_rows(OpenClMachine(device), SUITE["spmv"], 0, (2, 5), Asked("test", None, 1)))
    assert [(each.factor, each.local_size, each.same_code) for each in rows] == [(2, (192,), False)]
    assert rows[0].milliseconds.keys() == {"original", "off", "on"}
    assert rows[0].gain.ratio == pytest.approx(rows[0].on.ratio / rows[0].off.ratio)


class WrongMachine:
    """A machine on which coarsened code leaves zeros."""

    def __init__(self) -> None:
        self.coarsened = False

    def place(self, workload: Workload) -> Executor:
        self.workload = workload
        return self

    def load(
        self,
        code: Code,
        variant: Variant,
        binary: bytes | None = None,
        launches: Sequence[Launch] | None = None,
    ) -> Job:
        def job(_clock: Clock) -> Durations:
            self.coarsened = variant.is_coarsened
            return Durations(1)

        return job

    def outputs(self) -> dict[str, Array]:
        expected = self.workload.expected()
        return {name: np.zeros_like(array) if self.coarsened else array for name, array in expected.items()}

    def restore(self) -> None: ...

    def reset(self) -> None: ...

    def flush_caches(self) -> None: ...

    def violated(self) -> tuple[str, ...]:
        return ()


def test_wrong_results_are_not_timed() -> None:
    rows = measured_rows(WrongMachine(), SUITE["spmv"], 0, (4,), Asked("test"))
    with pytest.raises(VerificationError, match="spmv, factor 4 along dimension 0, off: result: 1000 of 1000"):
        next(rows)


def test_a_dimension_that_is_not_there() -> None:
    with pytest.raises(InvalidInputError, match="spmv: its NDRange has no dimension 1"):
        next(measured_rows(WrongMachine(), SUITE["spmv"], 1, (2,), Asked("test")))


def test_the_best_factor_counts_for_the_mean() -> None:
    rows = [row("spmv", 2, 0.5), row("spmv", 4, 2.0), row("mvCoal", 2, 0.5)]
    assert [each.factor for each in best_rows(rows)] == [4, 2]
    mean = targets(rows, ())[1]
    assert mean.met and mean.found.startswith("1.000 of 2 kernels")
    assert not targets([*rows[:1], rows[2]], ())[1].met


@pytest.mark.parametrize(("gain", "met"), [(0.972, True), (0.970, False), (1.2, True)])
def test_how_much_slower_is_allowed(gain: float, met: bool) -> None:
    never_slower = targets([row(gain=1.5), row("mvCoal", 8, gain=gain)], ())[0]
    assert never_slower.met is met
    if gain < 1:
        assert never_slower.found.endswith("mvCoal, factor 8, dimension 0")


def test_the_same_code_can_not_be_slower() -> None:
    assert targets([row(gain=0.5, same=True)], ())[0].met


@pytest.mark.parametrize(("size", "met"), [(250, True), (251, False)])
def test_how_large_the_code_may_be(size: int, met: bool) -> None:
    (target,) = targets((), [effect("spmv", 100), effect("sobel", size)])
    assert target.met is met
    assert "sobel" in target.found


def test_shares_are_means_over_kernels() -> None:
    shares = mean_shares([effect("a", 100), effect("b", 100, 0.6, 0.2), effect("c", 100, 0.0, 0.4)])
    assert shares.outside == pytest.approx(0.6)
    assert shares.interleaved == pytest.approx(0.2)
    assert shares.of_regions == pytest.approx(0.375)
    assert mean_shares([effect("a", 100)]).of_regions == 0


def test_what_the_code_says() -> None:
    spmv, transpose = static_effects(TWO_KERNELS.values(), 4, DeviceKind.ANY)
    assert spmv.outside + spmv.interleaved + spmv.copied == pytest.approx(1)
    assert spmv.interleaved > 0.9 and spmv.growth > 1
    assert (transpose.outside, transpose.growth) == (1, 1)


def test_json_without_a_measurement(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(agreement_table, "SUITE", TWO_KERNELS)
    assert agreement_table.main(["--static", "-f", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["devices"] == []
    assert [each["benchmark"] for each in found["code"]["kernels"]] == ["spmv", "mt"]
    assert found["code"]["factor"] == 8


def test_tables_name_the_device(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    working_devices: tuple[DeviceDescription, ...],
) -> None:
    device = working_devices[0]
    monkeypatch.setattr(agreement_table, "SUITE", TWO_KERNELS)
    monkeypatch.setattr(agreement_table, "_measured", lambda *_: [row(), replace(row(factor=4), same_code=True)])
    assert agreement_table.main(["--device", device.index]) == 0
    text = capsys.readouterr().out
    assert device.index in text and "= 1.00 (0.99–1.01)" in text
    assert "met: never more than 3% slower on than off" in text


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--device", "gameboy"], 4, "no OpenCL device is called 'gameboy'"),
        (["--local-size", "16x"], 2, "argument --local-size: a local size is 64 or 16x16 for example, not '16x'"),
        (["--static", "--factor", "one"], 2, "argument --factor: a factor is a whole number above 1, not 'one'"),
    ],
)
def test_bad_input(
    words: list[str],
    code: int,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(agreement_table, "SUITE", TWO_KERNELS)
    try:
        found = agreement_table.main(words)
    except SystemExit as leaving:
        found = int(str(leaving.code))
    assert found == code
    assert message in capsys.readouterr().err
