"""Which variants of a search are timed again, and what is chosen of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from coarsen.tuning.engine.finalists import PROCESSES, confirm, confirm_again, decide, finalists
from coarsen.tuning.measure.speedup import Speedup
from coarsen.tuning.progress import Deadline
from coarsen.tuning.records.measurement import Invalidity, Measurement, Role
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.variant import Variant
from tests.opencl_bench.measurements import some_measurement

OWN = Variant((64,))
OTHER = Variant((128,))
TWO, FOUR, EIGHT = (Variant((64,), (Coarsening(factor, 0),)) for factor in (2, 4, 8))


def row(candidate: Variant, ratio: float, role: Role = Role.COMPARISON, noise: float = 0.0) -> Measurement:
    """A row of a variant that is so many times as fast as the launch as it is; the runs differ by `noise`."""
    baseline = tuple(int(2_000_000 * (1 + noise * step)) for step in (-1, -0.5, 0, 0.5, 1))
    nanoseconds = tuple(int(2_000_000 / ratio) for _ in baseline)
    return some_measurement(
        candidate=candidate, baseline=OWN, role=role, nanoseconds=nanoseconds, baseline_nanoseconds=baseline
    )


def failed(candidate: Variant) -> Measurement:
    return some_measurement(
        candidate=candidate, baseline=OWN, invalidity=Invalidity.TIMEOUT, nanoseconds=(), baseline_nanoseconds=()
    )


class Measurer:
    """Gives ratios, process by process, and notes what was asked for."""

    def __init__(self, ratios: dict[Variant, Sequence[float | None]]) -> None:
        self.ratios = ratios
        self.asked: list[tuple[int, Variant]] = []
        self.closed = 0

    def close(self) -> None:
        self.closed += 1

    def confirmed(self, candidate: Variant, _baseline: Variant, invocation: int) -> Measurement:
        self.asked.append((invocation, candidate))
        ratio = self.ratios[candidate][invocation]
        return failed(candidate) if ratio is None else row(candidate, ratio, Role.CONFIRMATION)


def test_the_fastest_two_and_the_fastest_other_launch_are_timed_again() -> None:
    assert finalists({OWN: 1.0, TWO: 1.3, EIGHT: 1.5, FOUR: 2.0, OTHER: 1.2}) == (FOUR, EIGHT, OTHER)
    assert finalists({OWN: 1.0, EIGHT: 1.5, FOUR: 2.0, OTHER: 1.04}) == (FOUR, EIGHT)


def test_nothing_that_hardly_looks_faster_is_timed_again() -> None:
    assert finalists({OWN: 1.0, TWO: 1.005, FOUR: 0.5}) == ()


def test_another_launch_is_among_the_finalists_once() -> None:
    assert finalists({OTHER: 1.4, TWO: 1.3, FOUR: 1.2}) == (OTHER, TWO)


def test_each_process_begins_with_another_one_and_what_fails_is_not_timed_again() -> None:
    measurer = Measurer({FOUR: (2.0, None, 2.0), EIGHT: (1.5, 1.5, 1.5), OTHER: (1.2, 1.2, 1.2)})
    confirmed = confirm((FOUR, EIGHT, OTHER), OWN, [measurer] * 3, Deadline(60))  # type: ignore[list-item]
    assert [variant for invocation, variant in measurer.asked if invocation == 0] == [FOUR, EIGHT, OTHER]
    assert [variant for invocation, variant in measurer.asked if invocation == 1] == [EIGHT, OTHER, FOUR]
    assert [variant for invocation, variant in measurer.asked if invocation == 2] == [EIGHT, OTHER]
    assert confirmed is not None
    assert {variant: len(rows) for variant, rows in confirmed.items()} == {EIGHT: 3, OTHER: 3}
    assert measurer.closed == 3


def test_a_process_that_the_time_does_not_suffice_for_counts_for_nothing() -> None:
    measurer = Measurer({FOUR: (2.0, 2.0, 2.0)})
    assert confirm((FOUR,), OWN, [measurer] * PROCESSES, Deadline(1e-9)) is None  # type: ignore[list-item]


@dataclass
class Ticking:
    """A deadline that is over once so many variants were timed."""

    measurer: Measurer
    most: int

    @property
    def is_over(self) -> bool:
        return len(self.measurer.asked) >= self.most


@pytest.mark.parametrize(
    ("most", "counts"),
    [(1, {FOUR: 1}), (2, {FOUR: 1, EIGHT: 1}), (3, {FOUR: 1, EIGHT: 1}), (4, {FOUR: 2, EIGHT: 2})],
)
def test_what_was_timed_to_its_end_counts(most: int, counts: dict[Variant, int]) -> None:
    measurer = Measurer({FOUR: (2.0, 2.0, 2.0), EIGHT: (1.5, 1.5, 1.5)})
    deadline = Ticking(measurer, most)
    confirmed = confirm((FOUR, EIGHT), OWN, [measurer] * PROCESSES, deadline)  # type: ignore[arg-type, list-item]
    assert confirmed is not None
    assert {variant: len(rows) for variant, rows in confirmed.items()} == counts


def test_nothing_counts_of_a_first_process_that_was_cut_off_in_its_first_variant() -> None:
    measurer = Measurer({FOUR: (None,), EIGHT: (1.5,)})
    deadline = Ticking(measurer, 1)
    assert confirm((FOUR, EIGHT), OWN, [measurer], deadline) is None  # type: ignore[arg-type, list-item]


def test_the_fastest_that_is_surely_faster_is_chosen() -> None:
    decision = decide(
        {
            FOUR: [row(FOUR, ratio) for ratio in (3.0, 0.9, 2.0)],
            EIGHT: [row(EIGHT, ratio) for ratio in (1.5, 1.51, 1.49)],
            OTHER: [row(OTHER, ratio) for ratio in (1.2, 1.21, 1.19)],
        },
        OWN,
    )
    assert decision.choice == EIGHT, "of factor 4 nobody knows"
    assert decision.processes == 3
    assert round(decision.speedup.ratio, 2) == 1.5
    assert decision.over_uncoarsened is not None
    assert round(decision.over_uncoarsened.ratio, 2) == 1.25


def test_another_local_size_may_be_chosen() -> None:
    decision = decide({OTHER: [row(OTHER, ratio) for ratio in (1.2, 1.21, 1.19)]}, OWN)
    assert (decision.choice, decision.over_uncoarsened) == (OTHER, Speedup(1.0, 1.0, 1.0))


def test_a_single_process_says_little() -> None:
    assert decide({FOUR: [row(FOUR, 1.04)]}, OWN).choice == OWN
    assert decide({FOUR: [row(FOUR, 1.2)]}, OWN).choice == FOUR


def test_what_was_clearly_faster_in_each_process_is_chosen_though_they_differ() -> None:
    three = decide({FOUR: [row(FOUR, ratio) for ratio in (1.95, 2.0, 2.1)]}, OWN)
    assert three.choice == FOUR
    assert (three.speedup.low, three.speedup.high) == pytest.approx((1.95, 2.1), rel=1e-3)
    two = decide({FOUR: [row(FOUR, ratio) for ratio in (1.4, 1.5)]}, OWN)
    assert two.choice == FOUR
    assert (two.speedup.low, two.speedup.high) == pytest.approx((1.4, 1.5), rel=1e-3)
    assert decide({FOUR: [row(FOUR, ratio) for ratio in (1.03, 1.08)]}, OWN).choice == OWN


@pytest.mark.parametrize("ratios", [(1.2, 2.0, 3.5), (1.3, 1.6), (0.7, 1.1, 5.0), (1.61, 3.1, 22.3)])
def test_nothing_follows_from_an_interval_that_is_wider_than_a_tenth(ratios: tuple[float, ...]) -> None:
    decision = decide({FOUR: [row(FOUR, ratio) for ratio in ratios]}, OWN)
    assert (decision.choice, decision.speedup, decision.processes) == (OWN, Speedup(1.0, 1.0, 1.0), 0)
    assert decision.doubtful is not None and not decision.doubtful.is_certain
    assert "the machine is busy" in decision.doubtful.doubt


def test_an_interval_that_lies_above_a_clear_gain_is_clear() -> None:
    for wide in (Speedup(1.61, 1.49, 1.9), Speedup(1.57, 1.11, 2.23)):
        assert wide.is_clear and not wide.is_certain
    # Some are too near to 1; of the others, on a busy machine, nobody knows how much they gain.
    near = (Speedup(1.41, 1.03, 1.93), Speedup(0.98, 0.9, 1.2))
    unknown = (Speedup(3.56, 1.14, 11.16), Speedup(3.08, 1.61, 22.35), Speedup(1.22, 0.39, 3.81))
    for unclear in (*near, *unknown):
        assert not unclear.is_clear


def test_a_gain_that_is_large_at_either_end_is_certain() -> None:
    for wide in (Speedup(26.21, 15.25, 26.97), Speedup(4.82, 4.61, 5.56), Speedup(3.53, 2.49, 5.01)):
        assert wide.is_certain
    for unknown in (Speedup(3.08, 1.61, 22.35), Speedup(41.05, 12.7, 61.1), Speedup(1.6, 1.45, 1.75)):
        assert not unknown.is_certain
    decision = decide({FOUR: [row(FOUR, ratio) for ratio in (1.9, 2.0, 2.9)]}, OWN)
    assert decision.choice == FOUR


def test_a_wide_interval_below_one_is_no_doubt_and_beside_a_certain_choice_neither() -> None:
    assert decide({FOUR: [row(FOUR, ratio) for ratio in (0.4, 0.5, 0.6)]}, OWN).doubtful is None
    certain = [row(EIGHT, ratio) for ratio in (1.5, 1.51, 1.49)]
    decision = decide({FOUR: [row(FOUR, ratio) for ratio in (1.2, 2.0, 3.5)], EIGHT: certain}, OWN)
    assert (decision.choice, decision.doubtful) == (EIGHT, None)


@pytest.mark.parametrize(
    ("ratios", "seconds", "processes", "choice"),
    [
        ((2.0, 2.01, 1.99), 60, 3, FOUR),
        ((1.33, 1.54, 1.4, 1.414, 1.4, 1.407), 60, 6, FOUR),
        ((1.2, 2.0, 3.5, 1.2, 2.0, 3.5, 1.2, 2.0, 3.5), 60, 9, OWN),
        ((1.2, 2.0, 3.5), 1e-9, 3, OWN),
    ],
)
def test_what_is_uncertain_is_timed_in_more_processes_while_there_is_time(
    ratios: tuple[float, ...], seconds: float, processes: int, choice: Variant
) -> None:
    measurer = Measurer({FOUR: ratios})
    confirmed = {FOUR: tuple(row(FOUR, ratio) for ratio in ratios[:PROCESSES])}
    again: Any = confirm_again(confirmed, OWN, lambda: [measurer] * PROCESSES, Deadline(seconds))  # type: ignore[list-item]
    assert [invocation for invocation, _ in measurer.asked] == list(range(PROCESSES, processes))
    assert len(again[FOUR]) == processes
    assert decide(again, OWN).choice == choice


def test_where_nothing_is_faster_the_launch_stays_as_it_was() -> None:
    decision = decide({FOUR: [row(FOUR, ratio) for ratio in (0.99, 1.02, 1.0)]}, OWN)
    assert (decision.choice, decision.speedup, decision.processes) == (OWN, Speedup(1.0, 1.0, 1.0), 0)
    assert decide({}, OWN).choice == OWN
