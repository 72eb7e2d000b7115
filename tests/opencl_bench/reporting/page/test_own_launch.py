"""Curves along which only the factor changes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from coarsen.opencl_bench import find_benchmark
from coarsen.opencl_bench.reporting.page.charts import own_curves
from coarsen.opencl_bench.reporting.page.content import EXCLUDED, FAILED, MEASURED
from coarsen.tuning.engine.speedups import relative_speedup
from coarsen.tuning.records.measurement import Invalidity, Measurement
from coarsen.variant.coarsening import Coarsening, Level
from coarsen.variant.transforms import Transforms, Use
from coarsen.variant.variant import Variant
from tests.opencl_bench.reporting.figures.sweeps import compared

NBODY = find_benchmark("nbody")
OWN = NBODY.preset("test").local_size


def own(factor: int, percent: int, dimension: int = 0, **changes: object) -> Measurement:
    coarsenings = (Coarsening(factor, dimension),) if factor > 1 else ()
    return compared(factor, percent, benchmark="nbody", candidate=Variant(OWN, coarsenings), **changes)


# The sweep's baseline has another local size; against it the own launch takes half again as long.
ROWS = [
    compared(1, 100, benchmark="nbody"),
    own(1, 150),
    own(2, 75),
    own(4, 0),
    own(8, 0, invalidity=Invalidity.CONSTRAINTS, reason="8 does not divide it"),
    compared(2, 10, benchmark="nbody"),
]


def test_over_the_same_launch_uncoarsened() -> None:
    (curve,) = own_curves(NBODY, ROWS)
    assert (curve.launch.local_size, curve.launch.is_own) == (OWN, True)
    assert [(point.factor, point.state) for point in curve.points] == [
        (1, MEASURED),
        (2, MEASURED),
        (4, FAILED),
        (8, EXCLUDED),
    ]
    assert [point.speedup.ratio if point.speedup else None for point in curve.points] == [
        1.0,
        pytest.approx(2.0),
        None,
        None,
    ]
    assert (curve.best.factor, curve.points[2].reason) == (2, "it crashed")


def test_what_was_timed_against_another_baseline_is_left_out() -> None:
    earlier: dict[str, Any] = {"baseline": Variant((128,)), "started_at": "2020-01-01T00:00:00+00:00"}
    (curve,) = own_curves(NBODY, [own(1, 300, **earlier), own(16, 10, **earlier), *ROWS])
    assert [point.factor for point in curve.points] == [1, 2, 4, 8]
    assert curve.best.factor == 2


def test_work_groups_wide_accesses_and_other_transforms_are_other_curves() -> None:
    def other(**changes: Any) -> Measurement:  # noqa: ANN401 (fields of several types)
        candidate = replace(Variant(OWN, (Coarsening(2, 0),)), **changes)
        return compared(2, 10, benchmark="nbody", candidate=candidate)

    others = [
        other(coarsenings=(Coarsening(2, 0, level=Level.GROUP),)),
        other(transforms=Transforms(wide_accesses=True)),
        other(transforms=Transforms(fast_path=Use.NEVER)),
        other(any_size=True),
    ]
    for rows in ([*others, *ROWS], [*ROWS, *others]):
        (curve,) = own_curves(NBODY, rows)
        assert [point.factor for point in curve.points] == [1, 2, 4, 8]
        assert curve.points[1].speedup is not None and curve.points[1].speedup.ratio == pytest.approx(2.0)


def test_of_an_unknown_kernel_the_baselines_launch_counts() -> None:
    (curve,) = own_curves(None, ROWS)
    assert (curve.launch.local_size, curve.launch.is_own) == ((64,), False)
    assert curve.best.speedup is not None
    assert curve.best.factor == 2
    assert curve.best.speedup.ratio == pytest.approx(10)


def test_the_interval_is_that_of_a_ratio_of_ratios() -> None:
    gain = relative_speedup(ROWS[2], ROWS[1])
    assert gain.low <= gain.ratio <= gain.high <= 1.001 * gain.low  # the sample's times hardly differ
    noisy = own(2, 75, nanoseconds=(700_000, 750_000, 800_000, 720_000, 780_000))
    wide = relative_speedup(noisy, ROWS[1])
    assert wide.low < gain.low <= gain.high < wide.high


@pytest.mark.parametrize(
    "rows",
    [[], ROWS[2:3], [own(1, 0), own(2, 75)], [own(1, 100), own(8, 0, invalidity=Invalidity.CONSTRAINTS)]],
)
def test_without_factor_1_or_any_other_there_is_none(rows: list[Measurement]) -> None:
    assert own_curves(NBODY, rows) == ()
