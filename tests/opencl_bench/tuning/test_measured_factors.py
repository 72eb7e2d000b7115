"""Which of a few measured factors is the best, and what a sweep of them is asked for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from coarsen.errors import CoarsenError, DeviceError, InvalidInputError, VerificationError
from coarsen.opencl_bench.measure.speedup import Speedup
from coarsen.opencl_bench.records.measurement import Invalidity, Measurement, Role
from coarsen.opencl_bench.results.store.database import Store
from coarsen.opencl_bench.sweep.observer import SweepObserver, SweepSummary
from coarsen.opencl_bench.sweep.plan import SweepPlan
from coarsen.opencl_bench.tuning import measured_factors
from coarsen.opencl_bench.tuning.measured_factors import (
    MeasuredFactor,
    MeasuredFactors,
    measure_factors,
    plan_of_factors,
)
from coarsen.opencl_bench.workloads.lookup import SUITE
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.variant import Variant
from tests.opencl_bench.measurements import some_measurement

ONE = MeasuredFactor(1, Speedup(1.0, 1.0, 1.0))
FAILED = MeasuredFactor(32, None, Invalidity.TIMEOUT, "no answer within 3 s")


def factor(number: int, ratio: float, low: float, high: float) -> MeasuredFactor:
    return MeasuredFactor(number, Speedup(ratio, low, high))


@pytest.mark.parametrize(
    ("others", "best"),
    [
        ((factor(2, 1.2, 1.1, 1.3), factor(4, 1.6, 1.5, 1.7)), 4),
        # The clock can't tell them apart, so the smaller one will do.
        ((factor(2, 1.55, 1.4, 1.7), factor(4, 1.6, 1.5, 1.7)), 2),
        ((factor(2, 1.6, 1.5, 1.7), factor(4, 1.6, 1.5, 1.7)), 2),
        ((factor(2, 1.02, 0.99, 1.05),), 1),
        ((factor(2, 0.8, 0.7, 0.9), FAILED), 1),
        # A wide interval of a bad factor does not make it as good as the best.
        ((factor(2, 1.1, 0.2, 9.0), factor(4, 1.6, 1.5, 1.7)), 4),
        ((), 1),
    ],
)
def test_the_best(others: tuple[MeasuredFactor, ...], best: int) -> None:
    measured = MeasuredFactors((ONE, *others), (), 0)
    assert measured.best.factor == best
    assert measured.wrong == ()


def test_wrong_results_are_found() -> None:
    wrong = MeasuredFactor(2, None, Invalidity.CORRECTNESS, "c: 1 of 4 elements wrong")
    assert MeasuredFactors((ONE, wrong, FAILED), (), 0).wrong == (wrong,)


def test_what_is_planned() -> None:
    plan = plan_of_factors(SUITE["mt"], "mt", "0:0", (8, 2, 8), 1, (32, 8), "test")
    assert plan.space.factors == (1, 2, 8)
    assert (plan.space.strides, plan.space.dimensions) == ((1,), (1,))
    assert plan.space.local_sizes == ((32, 8),)
    with pytest.raises(InvalidInputError, match="mt: its NDRange has no dimension 2, only 0, 1"):
        plan_of_factors(SUITE["mt"], "mt", "0:0", (2,), 2, (32, 8), "test")
    with pytest.raises(InvalidInputError, match="mt: a local size has 2 numbers, 32x32 for example"):
        plan_of_factors(SUITE["mt"], "mt", "0:0", (2,), 0, (32,), "test")


def row(factor: int, nanoseconds: int, role: Role = Role.COMPARISON, **changes: str) -> Measurement:
    coarsenings = (Coarsening(factor, 0),) if factor > 1 else ()
    times = (nanoseconds, nanoseconds + 1, nanoseconds + 2, nanoseconds + 3, nanoseconds + 4)
    candidate = Variant((16, 16), coarsenings)
    return some_measurement(candidate=candidate, role=role, nanoseconds=times, **changes)


def answered(monkeypatch: pytest.MonkeyPatch, rows: tuple[Measurement, ...], problem: str = "") -> MeasuredFactors:
    """The factors 1, 2 and 4 as a sweep with these rows tells of them; the baseline takes about 2 ms."""

    def sweep(_plan: SweepPlan, _store: object, _observer: SweepObserver | None) -> SweepSummary:
        return SweepSummary("mt", "0:0", rows, len(rows), 1.0, problem)

    monkeypatch.setattr(measured_factors, "sweep", sweep)
    plan = plan_of_factors(SUITE["mt"], "mt", "0:0", (2, 4), 0, (16, 16), "test")
    return measure_factors(plan, Store.__new__(Store))


def test_a_confirmation_counts_in_place_of_the_comparison(monkeypatch: pytest.MonkeyPatch) -> None:
    again = row(4, 4_000_000, Role.CONFIRMATION), row(2, 1_250_000, Role.CONFIRMATION)
    rows = row(1, 2_000_000), row(2, 1_000_000), row(4, 1_000_000), *again
    found = answered(monkeypatch, rows)
    assert [each.factor for each in found.factors] == [1, 2, 4]
    ratios = [each.speedup.ratio for each in found.factors if each.speedup]
    assert ratios == pytest.approx([1.0, 1.6, 0.5], rel=1e-3)
    assert found.best.factor == 2
    assert (found.rows, found.measured) == (rows, 5)


def test_a_factor_that_failed_when_it_was_confirmed_has_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    failed = row(4, 1, Role.CONFIRMATION, invalidity=Invalidity.CORRECTNESS, reason="differs")
    again = row(4, 1_000_000, Role.CONFIRMATION), failed, row(2, 1_250_000, Role.CONFIRMATION)
    found = answered(monkeypatch, (row(1, 2_000_000), row(2, 1_250_000), row(4, 1_000_000), *again))
    assert found.factors[2] == MeasuredFactor(4, None, Invalidity.CORRECTNESS, "differs", 2)
    assert found.best.factor == 1, "factor 2 was confirmed in one process alone"
    alone = answered(monkeypatch, (row(1, 2_000_000), row(2, 1_250_000), row(4, 1_000_000), failed))
    assert alone.best.factor == 1, "what was timed once does not take its place"


def test_a_smaller_factor_wins_within_five_per_cent_however_wide_the_interval(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    again = [
        replace(row(factor, nanoseconds, Role.CONFIRMATION), invocation=number)
        for factor, times in ((4, (800_000, 1_000_000, 1_200_000)), (2, (1_250_000, 1_260_000, 1_270_000)))
        for number, nanoseconds in enumerate(times)
    ]
    found = answered(monkeypatch, (row(1, 2_000_000), row(2, 1_250_000), row(4, 1_000_000), *again))
    assert found.factors[2].speedup is not None and found.factors[2].speedup.low < 1.5
    assert found.best.factor == 4


def test_a_factor_that_fails_has_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = row(4, 1, invalidity=Invalidity.TIMEOUT, reason="no answer within 3 s")
    found = answered(monkeypatch, (row(1, 2_000_000), row(2, 1_000_000), slow))
    assert found.factors[2] == MeasuredFactor(4, None, Invalidity.TIMEOUT, "no answer within 3 s")


@pytest.mark.parametrize(
    ("ending", "error"),
    [
        (Invalidity.CORRECTNESS, VerificationError),
        (Invalidity.RUNTIME, DeviceError),
        (Invalidity.TIMEOUT, DeviceError),
        (Invalidity.COMPILE, InvalidInputError),
    ],
)
def test_without_a_baseline_it_is_an_error(
    ending: Invalidity, error: type[CoarsenError], monkeypatch: pytest.MonkeyPatch
) -> None:
    failed = row(1, 1, Role.SELECTION, invalidity=ending, reason="it went wrong")
    with pytest.raises(error, match="mt: the kernel as it is: it went wrong"):
        answered(monkeypatch, (failed,), "it went wrong")
