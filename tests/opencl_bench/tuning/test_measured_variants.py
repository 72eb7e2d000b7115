"""What rows say of a few measured variants, and which of them is chosen; in what order they are tried."""

from __future__ import annotations

from dataclasses import replace

import pytest

from coarsen.models.launch.expected_improvement import Belief, Expected
from coarsen.opencl_bench.sweep.promising_variants import MeasuredVariant, PromisingSearcher, measured_variants
from coarsen.tuning.records.measurement import Invalidity, Measurement, Role
from coarsen.tuning.search.evaluator import Budget
from coarsen.tuning.search.spaces import NamedVariants
from coarsen.variant.coarsening import Coarsening, Level
from coarsen.variant.variant import Variant
from tests.opencl_bench.measurements import some_measurement
from tests.opencl_bench.search.tables import FunctionEvaluator

OWN = Variant((16, 16))
FLAT = Variant((64, 4))
MERGED = Variant((64, 4), (Coarsening(4, 0, level=Level.GROUP),))
TWO, FOUR = (Variant((16, 16), (Coarsening(factor, 0),)) for factor in (2, 4))
EXPECTED = {
    TWO: Expected(-0.2, 0.1),
    FOUR: Expected(-0.3, 0.3),
    FLAT: Expected(0.0, 0.3),
    MERGED: Expected(0.0, 0.3),
}
BELIEF = Belief(EXPECTED)


def row(variant: Variant, nanoseconds: int, role: Role = Role.COMPARISON, **changes: str) -> Measurement:
    """A row of a variant; the launch as it is takes about 2 ms."""
    times = tuple(nanoseconds + run for run in range(5))
    return some_measurement(candidate=variant, role=role, nanoseconds=times, **changes)


def in_processes(variant: Variant, *nanoseconds: int) -> list[Measurement]:
    rows = (row(variant, each, Role.CONFIRMATION) for each in nanoseconds)
    return [replace(each, invocation=number) for number, each in enumerate(rows)]


def test_a_confirmation_counts_in_place_of_the_comparison() -> None:
    rows = [row(FOUR, 1_000_000), row(TWO, 1), *in_processes(FOUR, 4_000_000)]
    found, _ = measured_variants(OWN, BELIEF, rows).variants
    assert found.speedup is not None and found.speedup.ratio == pytest.approx(0.5, rel=1e-3)
    assert (found.variant, found.processes) == (FOUR, 1)


def test_a_variant_that_failed_when_it_was_confirmed_has_failed() -> None:
    failed = row(FOUR, 1, Role.CONFIRMATION, invalidity=Invalidity.CORRECTNESS, reason="differs")
    rows = [row(FOUR, 1_000_000), *in_processes(FOUR, 1_000_000), failed]
    measured = measured_variants(OWN, BELIEF, rows)
    (found,) = measured.variants
    assert replace(found, expected=EXPECTED[FOUR]) == MeasuredVariant(
        FOUR, EXPECTED[FOUR], None, Invalidity.CORRECTNESS, "differs", 2
    )
    assert measured.wrong == (found,)
    assert measured.decision.choice == OWN


def test_what_breaks_a_constraint_was_not_measured() -> None:
    rows = [row(FOUR, 0, invalidity=Invalidity.CONSTRAINTS, reason="the factor does not divide"), row(TWO, 1_000)]
    assert [each.variant for each in measured_variants(OWN, BELIEF, rows).variants] == [TWO]


def test_each_is_shown_with_what_was_expected_of_it_after_those_before() -> None:
    first, second = measured_variants(OWN, BELIEF, [row(FOUR, 4_000_000), row(TWO, 2_000_000)]).variants
    assert first.expected.mean == pytest.approx(EXPECTED[FOUR].mean)
    assert second.expected.mean > EXPECTED[TWO].mean, "what is like it was slower than expected"


def test_the_fastest_is_chosen_and_compared_with_the_fastest_local_size_measured_uncoarsened() -> None:
    times = {FLAT: (1_000_000, 1_010_000, 990_000), MERGED: (500_000, 505_000, 495_000)}
    rows = [
        entry
        for variant, each in times.items()
        for entry in (row(variant, 1_000_000), *in_processes(variant, *each))
    ]
    decision = measured_variants(OWN, BELIEF, rows).decision
    assert (decision.choice, decision.processes) == (MERGED, 3)
    assert decision.over_uncoarsened is not None
    assert decision.over_uncoarsened.ratio == pytest.approx(2.0, rel=1e-2)
    alone = measured_variants(OWN, BELIEF, [each for each in rows if each.candidate == MERGED]).decision
    assert alone.over_uncoarsened is None, "no other local size was measured uncoarsened"


@pytest.mark.parametrize(("first", "order"), [(None, (FOUR, MERGED)), (TWO, (TWO, FOUR)), (OWN, (FOUR, MERGED))])
def test_the_models_choice_comes_first_then_what_promises_most(
    first: Variant | None, order: tuple[Variant, ...]
) -> None:
    space = NamedVariants([*EXPECTED])
    found = PromisingSearcher(BELIEF, first).search(FunctionEvaluator(space, lambda _: 0.74), Budget(trials=2), 0)
    assert tuple(space.variant(trial.choice) for trial in found.trace) == order


def test_the_search_ends_when_all_were_tried() -> None:
    found = PromisingSearcher(BELIEF).search(
        FunctionEvaluator(NamedVariants([*EXPECTED]), lambda _: None), Budget(), 0
    )
    assert len(found.trace) == len(EXPECTED)
