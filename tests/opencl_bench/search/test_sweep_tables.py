"""Stored sweeps as tables: relative times, failures, what the constraints exclude, the base."""

from __future__ import annotations

from typing import Any

import pytest

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.records.measurement import Invalidity, Measurement, Role
from coarsen.opencl_bench.search.spaces import values_of
from coarsen.opencl_bench.search.sweep_tables import sweep_tables
from coarsen.variant.coarsening import Coarsening, Level
from coarsen.variant.variant import Variant
from tests.opencl_bench.measurements import some_measurement

FIRST, BASELINE = Variant((16, 16), (), (("TILE", "16"),)), Variant((32, 8), (), (("TILE", "8"),))


def row(candidate: Variant, milliseconds: int = 2, **changes: Any) -> Measurement:  # noqa: ANN401
    """A comparison with a baseline of 2 ms."""
    own, other = (milliseconds * 1_000_000,) * 5, (2_000_000,) * 5
    times = {"nanoseconds": own, "baseline_nanoseconds": other} if "invalidity" not in changes else {}
    return some_measurement(candidate=candidate, **({"baseline": BASELINE} | times | changes))


def coarsened(factor: int, stride: int = 1, **more: Any) -> Variant:  # noqa: ANN401
    return Variant((32, 8), (Coarsening(factor, 0, stride, **more),), (("TILE", "8"),))


SWEEP = [
    row(FIRST, baseline=FIRST, role=Role.SELECTION),
    row(BASELINE, 1, baseline=FIRST, role=Role.SELECTION),
    row(FIRST, 4),
    row(BASELINE),
    row(coarsened(2), 1),
    row(coarsened(2, 8), invalidity=Invalidity.RUNTIME),
    row(coarsened(4, level=Level.GROUP), invalidity=Invalidity.CONSTRAINTS),
]


def test_a_table_of_a_sweep() -> None:
    (table,) = sweep_tables(SWEEP)
    assert table.name.startswith("sgemm on ")
    # What the constraints exclude is left out; what failed is tried.
    assert len(table.trials) == 4
    assert table.times == pytest.approx((0.5, 1.0, 2.0))
    assert all(trial.seconds == pytest.approx(0.375) for trial in table.trials.values())
    names = {axis.name: axis.shared for axis in table.space.axes}
    assert names == {
        **dict.fromkeys(("local_size_0", "local_size_1", "factor_0", "stride_0"), True),
        "-D TILE": False,
    }
    assert [axis.values for axis in table.space.axes if axis.name == "-D TILE"] == [(16, 8)]


def test_the_base_is_the_launch_that_the_benchmark_begins_with() -> None:
    (table,) = sweep_tables(SWEEP)
    base = values_of(table.space, (0,) * len(table.space.axes))
    assert base == {"local_size_0": 16, "local_size_1": 16, "factor_0": 1, "stride_0": 1, "-D TILE": 16}
    assert table.remarks == ()


def test_a_kernel_with_a_single_time_is_no_space() -> None:
    assert sweep_tables([row(BASELINE), row(coarsened(2), invalidity=Invalidity.TIMEOUT)]) == []


def test_each_kernel_has_its_table() -> None:
    names = [table.name for table in sweep_tables([*SWEEP, *(row(BASELINE, benchmark=name) for name in "b")])]
    assert len(names) == 1
    both = [*SWEEP, row(BASELINE, benchmark="mt"), row(coarsened(2), benchmark="mt")]
    assert [table.name.split()[0] for table in sweep_tables(both)] == ["mt", "sgemm"]


def test_rows_without_a_comparison() -> None:
    with pytest.raises(InvalidInputError, match="none of the measurements compares"):
        sweep_tables([row(BASELINE, role=Role.SELECTION)])
