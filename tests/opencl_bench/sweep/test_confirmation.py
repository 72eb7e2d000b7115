"""What is confirmed, in which order, and how many rows that makes."""

from __future__ import annotations

import pytest

from coarsen.tuning.engine.finalists import in_turn
from coarsen.tuning.engine.rows import most_rows, to_confirm
from coarsen.tuning.records.measurement import Invalidity, Measurement
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.variant import Variant
from tests.opencl_bench.measurements import some_measurement

BASELINE = Variant((64,))


def timed(factor: int, ratio: float, size: int = 64) -> Measurement:
    coarsenings = (Coarsening(factor, 0),) if factor > 1 else ()
    return some_measurement(
        candidate=Variant((size,), coarsenings),
        baseline=BASELINE,
        nanoseconds=(1000,),
        baseline_nanoseconds=(round(1000 * ratio),),
    )


def test_the_fastest_three_the_baseline_and_the_fastest_launch_beside_it() -> None:
    slow = Variant((64,), (Coarsening(32, 0),))
    failed = some_measurement(candidate=slow, baseline=BASELINE, invalidity=Invalidity.TIMEOUT, reason="slow")
    rows = [timed(1, 1.0), timed(1, 0.9, 32), timed(1, 0.95, 128)]
    rows += [timed(2, 1.2), timed(4, 1.5), timed(8, 0.8), timed(16, 1.4), failed]
    assert [str(each) for each in to_confirm(rows, BASELINE)] == [
        str(Variant((64,), (Coarsening(4, 0),))),
        str(Variant((64,), (Coarsening(16, 0),))),
        str(Variant((64,), (Coarsening(2, 0),))),
        str(BASELINE),
        str(Variant((128,))),
    ]


def test_another_one_begins_in_each_process() -> None:
    candidates = [Variant((size,)) for size in (32, 64, 128)]
    orders = [in_turn(candidates, invocation) for invocation in range(3)]
    assert [order[0] for order in orders] == candidates
    assert all(set(order) == set(candidates) for order in orders)
    assert in_turn([], 1) == ()


@pytest.mark.parametrize(
    ("coarsened", "launches", "rows"), [(0, 1, 3), (1, 1, 6), (2, 2, 12), (3, 2, 15), (40, 9, 15), (0, 0, 0)]
)
def test_how_many_rows_there_are_at_most(coarsened: int, launches: int, rows: int) -> None:
    assert most_rows(coarsened, launches) == rows
