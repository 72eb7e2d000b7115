"""Which of a few measured variants is the best, and what is said of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from coarsen.models.launch.expected_improvement import Expected
from coarsen.opencl_bench.sweep.promising_variants import MeasuredVariant, MeasuredVariants, measured_variant
from coarsen.tuning.measure.speedup import Speedup
from coarsen.tuning.records.measurement import Invalidity, Measurement, Role
from coarsen.variant.coarsening import Coarsening, Level
from coarsen.variant.variant import LocalSize, Variant
from tests.opencl_bench.measurements import some_measurement

NOTHING = Expected(0.0, 0.3)
OWN = Variant((16, 16))
FLAT = Variant((64, 4))


def coarsened(factor: int, dimension: int = 0, local_size: LocalSize = (16, 16)) -> Variant:
    return Variant(local_size, (Coarsening(factor, dimension),))


def entry(variant: Variant, ratio: float, low: float, high: float, processes: int = 0) -> MeasuredVariant:
    return MeasuredVariant(variant, NOTHING, Speedup(ratio, low, high), processes=processes)


FAILED = MeasuredVariant(coarsened(32), NOTHING, None, Invalidity.TIMEOUT, "no answer within 3 s")


@pytest.mark.parametrize(
    ("others", "best"),
    [
        ((entry(coarsened(2), 1.2, 1.15, 1.25), entry(coarsened(4, 1), 1.6, 1.55, 1.65)), coarsened(4, 1)),
        # The clock can't tell them apart, so the one that merges less will do.
        ((entry(coarsened(4, 1), 1.6, 1.53, 1.67), entry(coarsened(2), 1.55, 1.5, 1.6)), coarsened(2)),
        ((entry(coarsened(4), 1.6, 1.53, 1.67), entry(FLAT, 1.55, 1.5, 1.6)), FLAT),
        ((entry(coarsened(2), 1.02, 0.99, 1.05),), OWN),
        ((entry(coarsened(2), 0.8, 0.7, 0.9), FAILED), OWN),
        # A wide interval of a bad variant does not make it as good as the best.
        ((entry(coarsened(2), 1.1, 0.2, 9.0), entry(coarsened(4), 1.6, 1.53, 1.67)), coarsened(4)),
        # Nor the best of one that looks good.
        ((entry(coarsened(2), 3.56, 1.14, 11.16), entry(coarsened(4), 1.6, 1.53, 1.67)), coarsened(4)),
        ((entry(coarsened(32), 3.56, 0.75, 16.89), entry(coarsened(2), 41.05, 12.7, 61.1)), OWN),
        # What was timed in more processes competes alone.
        ((entry(coarsened(2), 3.0, 2.9, 3.1, 1), entry(coarsened(4), 1.6, 1.53, 1.67, 3)), coarsened(4)),
        ((), OWN),
    ],
)
def test_the_best(others: tuple[MeasuredVariant, ...], best: Variant) -> None:
    measured = MeasuredVariants(OWN, others)
    assert measured.best.variant == best
    assert (measured.wrong, measured.over_uncoarsened) == ((), None)


def test_wrong_results_are_found() -> None:
    wrong = MeasuredVariant(coarsened(2), NOTHING, None, Invalidity.CORRECTNESS, "c: 1 of 4 elements wrong")
    assert MeasuredVariants(OWN, (wrong, FAILED)).wrong == (wrong,)


def row(variant: Variant, nanoseconds: int, role: Role = Role.COMPARISON, **changes: str) -> Measurement:
    """A row of a variant; the launch as it is takes about 2 ms."""
    times = tuple(nanoseconds + run for run in range(5))
    return some_measurement(candidate=variant, role=role, nanoseconds=times, **changes)


def in_processes(variant: Variant, *nanoseconds: int) -> list[Measurement]:
    rows = (row(variant, each, Role.CONFIRMATION) for each in nanoseconds)
    return [replace(each, invocation=number) for number, each in enumerate(rows)]


def test_a_confirmation_counts_in_place_of_the_comparison() -> None:
    rows = [row(coarsened(4), 1_000_000), *in_processes(coarsened(4), 4_000_000)]
    found = measured_variant(coarsened(4), NOTHING, [*rows, row(coarsened(2), 1)])
    assert found.speedup is not None and found.speedup.ratio == pytest.approx(0.5, rel=1e-3)
    assert (found.processes, found.expected) == (1, NOTHING)


def test_a_variant_that_failed_when_it_was_confirmed_has_failed() -> None:
    failed = row(coarsened(4), 1, Role.CONFIRMATION, invalidity=Invalidity.CORRECTNESS, reason="differs")
    rows = [row(coarsened(4), 1_000_000), *in_processes(coarsened(4), 1_000_000), failed]
    found = measured_variant(coarsened(4), NOTHING, rows)
    assert found == MeasuredVariant(coarsened(4), NOTHING, None, Invalidity.CORRECTNESS, "differs", 2)


def test_the_speed_up_over_the_fastest_local_size_measured_uncoarsened() -> None:
    merged = Variant((64, 4), (Coarsening(4, 0, level=Level.GROUP),))
    times = {FLAT: (1_000_000, 1_010_000, 990_000), merged: (500_000, 505_000, 495_000)}
    rows = [
        entry
        for variant, each in times.items()
        for entry in (row(variant, 1_000_000), *in_processes(variant, *each))
    ]
    measured = MeasuredVariants(OWN, tuple(measured_variant(each, NOTHING, rows) for each in times), tuple(rows))
    assert measured.best.variant == merged
    over = measured.over_uncoarsened
    assert over is not None and over.ratio == pytest.approx(2.0, rel=1e-2)
    alone = MeasuredVariants(OWN, measured.variants[1:], tuple(rows))
    assert alone.over_uncoarsened is None, "no other local size was measured uncoarsened"
