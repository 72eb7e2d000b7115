"""The one definition of the best configuration, and what everything that shows one makes of it."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from coarsen.opencl_bench.results.best import (
    best_row,
    best_words,
    geometric_mean,
    summaries,
    verified_against,
)
from coarsen.opencl_bench.results.results import Results
from coarsen.tuning.engine.speedups import quotient
from coarsen.tuning.measure.speedup import Speedup
from coarsen.tuning.records.measurement import CheckedAgainst, Invalidity, Measurement, Role
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.data_layout import SOA
from coarsen.variant.data_plan import ArrayPlan
from coarsen.variant.variant import Variant
from tests.opencl_bench.measurements import some_measurement
from tests.opencl_bench.results.best_rows import best_rows

SIZE, OTHER_SIZE = (8, 8), (64, 4)
EARLY, LATE = "2026-11-20T12:00:00+00:00", "2026-11-20T13:00:00+00:00"


def timed(
    factor: int,
    ratio: float,
    size: tuple[int, ...] = SIZE,
    over: tuple[int, ...] = SIZE,
    **changes: Any,  # noqa: ANN401 (fields of several types)
) -> Measurement:
    """A configuration that is so many times as fast as an uncoarsened launch, with next to no noise."""
    coarsenings = (Coarsening(factor, 0),) if factor > 1 else ()
    return some_measurement(
        candidate=Variant(size, coarsenings),
        baseline=Variant(over),
        nanoseconds=(1000, 1001, 1002),
        baseline_nanoseconds=tuple(round(ratio * each) for each in (1000, 1001, 1002)),
        **{"started_at": EARLY, "oracle": CheckedAgainst.REFERENCE, **changes},
    )


def again(factor: int, ratio: float, **changes: Any) -> Measurement:  # noqa: ANN401 (see above)
    """The same, once more in a new process."""
    return timed(factor, ratio, role=Role.CONFIRMATION, **changes)


ITSELF = timed(1, 1.02)


def shown(rows: list[Measurement]) -> tuple[str, float, bool]:
    """The best as one says it: configuration, speed-up to two digits, whether confirmed."""
    best = best_row(rows)
    assert best is not None
    return str(best.candidate), round(best.speedup.ratio, 2), best.is_confirmed


def test_the_fastest_as_it_was_confirmed() -> None:
    rows = [ITSELF, timed(2, 1.5), timed(4, 1.9), again(4, 1.7)]
    assert shown(rows) == ("factor 4 along dimension 0, local size 8×8", 1.7, True)


def test_without_any_confirmation_the_comparison_counts() -> None:
    assert shown([ITSELF, timed(2, 1.5)]) == ("factor 2 along dimension 0, local size 8×8", 1.5, False)


def test_what_was_timed_once_does_not_win_over_what_was_timed_again() -> None:
    # 1.15 was not timed again, and is the luckier of two numbers of which one is known to have been lucky.
    best = best_row([ITSELF, timed(2, 1.15), timed(4, 1.17), again(4, 1.13)])
    assert best is not None and (best.candidate.factor, round(best.speedup.ratio, 2)) == (4, 1.13)


@pytest.mark.parametrize("ratio", [0.88, 1.0])
def test_a_best_that_does_not_hold_leaves_the_kernel_as_it_is(ratio: float) -> None:
    best = best_row([ITSELF, timed(8, 1.04), again(8, ratio)])
    assert best is not None
    assert (best.candidate, best.speedup, best.is_coarsened) == (Variant(SIZE), Speedup(1.0, 1.0, 1.0), False)
    assert best_words(best.speedup) == "1.00 (leave it as it is)"
    (note,) = best.notes
    assert note.startswith(
        "nothing beats the baseline: factor 8 along dimension 0, local size 8×8, confirmed, has"
    )


def test_one_baseline_and_what_is_left_out_is_named() -> None:
    # A sweep over 8×8, and then a few factors at a local size that somebody asked for.
    asked: dict[str, Any] = {"size": OTHER_SIZE, "over": OTHER_SIZE, "started_at": LATE}
    best = best_row([ITSELF, timed(4, 1.5), again(4, 1.5), timed(1, 1.0, **asked), timed(8, 3.34, **asked)])
    assert best is not None
    assert (best.candidate.factor, best.candidate.local_size, best.baseline) == (
        8,
        OTHER_SIZE,
        Variant(OTHER_SIZE),
    )
    assert not best.is_confirmed
    assert best.notes == ("rows over another baseline (8×8) are left out: their speed-ups do not compare",)


def test_a_faster_uncoarsened_launch_becomes_the_baseline() -> None:
    best = best_row([ITSELF, timed(1, 1.8, size=OTHER_SIZE), timed(4, 2.7)])
    assert best is not None
    assert (best.baseline, best.timed_over) == (Variant(OTHER_SIZE), Variant(SIZE))
    assert best.candidate.factor == 4
    assert best.speedup.ratio == pytest.approx(1.5, abs=0.01)
    assert best.speedup.low < 1.5 < best.speedup.high
    assert best.notes == (
        "uncoarsened, local size 64×4 is faster than 8×8, which all was timed against, "
        "so speed-ups are ratios of two ratios",
    )


def test_a_layout_may_be_the_best_and_is_no_baseline() -> None:
    laid = Variant((8, 8), arrays=(ArrayPlan("bodies", SOA),))
    best = best_row([ITSELF, replace(timed(1, 1.6), candidate=laid), timed(2, 1.2)])
    assert best is not None and best.is_coarsened
    assert (best.candidate, best.baseline, round(best.speedup.ratio, 2)) == (laid, Variant((8, 8)), 1.6)


def test_never_uncoarsened_at_more_than_one() -> None:
    best = best_row([ITSELF, timed(1, 1.8, size=OTHER_SIZE), timed(4, 1.7)])
    assert best is not None
    assert (best.candidate, best.baseline, best.speedup.ratio) == (
        Variant(OTHER_SIZE),
        Variant(OTHER_SIZE),
        1.0,
    )


def test_another_local_size_that_is_hardly_faster_is_noise() -> None:
    best = best_row([ITSELF, timed(1, 1.03, size=OTHER_SIZE), timed(4, 2.0)])
    assert best is not None and (best.baseline, round(best.speedup.ratio, 2)) == (Variant(SIZE), 2.0)


def failed(factor: int, invocation: int = 0) -> Measurement:
    """A confirmation whose results were wrong."""
    return some_measurement(
        candidate=Variant(SIZE, (Coarsening(factor, 0),)),
        baseline=Variant(SIZE),
        role=Role.CONFIRMATION,
        invalidity=Invalidity.CORRECTNESS,
        reason="wrong",
        started_at=EARLY,
        invocation=invocation,
    )


def in_processes(factor: int, *ratios: float, **changes: Any) -> list[Measurement]:  # noqa: ANN401 (see above)
    """Confirmations in as many processes."""
    return [
        again(factor, ratio, invocation=number, started_at=LATE, **changes) for number, ratio in enumerate(ratios)
    ]


def test_what_failed_when_it_was_confirmed_is_not_the_best() -> None:
    fine = in_processes(4, 1.5, 1.52, 1.51)
    once = [*in_processes(2, 2.0, 2.0), failed(2, invocation=2)]
    assert shown([ITSELF, timed(2, 2.0), timed(4, 1.5), *once, *fine])[::2] == (
        "factor 4 along dimension 0, local size 8×8",
        True,
    )
    # What was not confirmed does not take its place.
    assert shown([ITSELF, timed(2, 2.0), timed(4, 1.5), failed(2)])[:2] == ("uncoarsened, local size 8×8", 1.0)


def test_several_processes_count_as_one_number() -> None:
    best = best_row([ITSELF, timed(2, 2.6), *in_processes(2, 2.0, 2.1, 2.2)])
    assert best is not None
    assert best.processes == 3
    assert best.speedup.ratio == pytest.approx((2.0 * 2.1 * 2.2) ** (1 / 3), abs=0.002)
    # Student's interval of three: 4.303 standard errors of the logarithms, far wider than each process knows.
    assert (best.speedup.low, best.speedup.high) == pytest.approx((1.86, 2.37), abs=0.01)


def test_what_changes_with_the_process_beats_nothing() -> None:
    # Twice clearly faster, once clearly slower: each process is sure, and they don't agree.
    rows = [ITSELF, timed(4, 1.4), *in_processes(4, 1.3, 0.9, 1.3)]
    assert shown(rows)[:2] == ("uncoarsened, local size 8×8", 1.0)


def test_a_steady_gain_wins_over_a_larger_one_that_does_not_hold() -> None:
    rows = [ITSELF, timed(2, 1.2), timed(4, 1.4)]
    rows += [*in_processes(4, 1.5, 0.9, 1.6), *in_processes(2, 1.15, 1.15, 1.16)]
    assert shown(rows) == ("factor 2 along dimension 0, local size 8×8", 1.15, True)


def test_only_what_was_in_the_most_processes_competes() -> None:
    rows = [ITSELF, timed(2, 1.2), timed(4, 1.4), again(4, 1.4), *in_processes(2, 1.15, 1.15, 1.16)]
    assert shown(rows) == ("factor 2 along dimension 0, local size 8×8", 1.15, True)


def test_a_launch_that_was_confirmed_as_faster_becomes_the_baseline_process_by_process() -> None:
    other: dict[str, Any] = {"size": OTHER_SIZE}
    # Each process does to the baseline what it does, so the quotients are steadier than the speed-ups.
    rows = [ITSELF, timed(1, 1.02, **other), timed(4, 2.0)]
    rows += [*in_processes(1, 1.15, 1.20, 1.25, **other), *in_processes(4, 2.3, 2.4, 2.5)]
    best = best_row(rows)
    assert best is not None
    assert (best.baseline, best.candidate.factor) == (Variant(OTHER_SIZE), 4)
    assert (best.speedup.low, best.speedup.high) == pytest.approx((2.0, 2.0), abs=0.02)


def test_a_launch_that_was_not_confirmed_does_not_become_the_baseline_where_others_were() -> None:
    sizes = [(16, 16), (32, 32)]
    rows = [ITSELF, timed(1, 1.07, size=sizes[0]), timed(1, 1.06, size=sizes[1])]
    rows += in_processes(1, 1.01, 0.99, 1.0, size=sizes[0])
    best = best_row(rows)
    assert best is not None and best.baseline == Variant(SIZE)


def test_a_clock_that_favours_one_side_is_told() -> None:
    rows = [ITSELF, timed(2, 1.5), *in_processes(1, 1.04, 1.041, 1.042), *in_processes(2, 1.5, 1.5, 1.5)]
    best = best_row(rows)
    assert best is not None and best.speedup.ratio == pytest.approx(1.5, abs=0.01)
    assert best.notes == (
        "timed against itself, where the truth is 1, local size 8×8 has 1.04 (1.04 to 1.04): "
        "one interval in twenty leaves out 1 by chance, or the clock favours one side",
    )


def test_nothing_with_a_speed_up_has_no_best() -> None:
    assert best_row([some_measurement(invalidity=Invalidity.COMPILE, reason="no")]) is None


@pytest.mark.parametrize("other", [{"driver_version": "another"}, {"cold_cache": True}, {"form": "spirv"}])
def test_drivers_forms_and_states_of_the_caches_are_kept_apart(other: dict[str, Any]) -> None:
    rows = [ITSELF, timed(2, 2.0), timed(1, 1.0, **other), timed(2, 3.0, **other)]
    assert sorted(round(best.speedup.ratio) for best in best_rows(rows)) == [2, 3]


def test_one_kernel_has_no_geometric_mean() -> None:
    rows = [ITSELF, timed(2, 2.0)]
    assert geometric_mean(best_rows(rows)) is None
    other = [timed(1, 1.0, benchmark="mt"), timed(2, 8.0, benchmark="mt")]
    assert geometric_mean(best_rows([*rows, *other])) == pytest.approx(4.0, rel=0.01)


@pytest.mark.parametrize(
    "rows",
    [
        [ITSELF, timed(2, 1.5), timed(4, 1.9), again(4, 1.7)],
        [ITSELF, timed(4, 1.4), *in_processes(4, 1.3, 0.9, 1.3)],
        [ITSELF, timed(2, 2.6), *in_processes(2, 2.0, 2.1, 2.2), *in_processes(1, 1.01, 1.0, 0.99)],
        [
            *(ITSELF, timed(1, 1.02, size=OTHER_SIZE), timed(4, 2.0)),
            *(*in_processes(1, 1.15, 1.20, 1.25, size=OTHER_SIZE), *in_processes(4, 2.3, 2.4, 2.5)),
        ],
        [ITSELF, timed(8, 1.04), again(8, 0.88)],
        [timed(8, 1.04), again(8, 0.88)],
        [ITSELF, timed(1, 1.8, size=OTHER_SIZE), timed(4, 2.7)],
        [ITSELF, timed(4, 1.5), timed(1, 1.0, OTHER_SIZE, OTHER_SIZE, started_at=LATE)],
    ],
)
def test_tables_and_summaries_say_the_same(rows: list[Measurement]) -> None:
    best, (summary,), table = best_row(rows), summaries(rows), Results(tuple(rows), "here").best()
    assert best is not None and summary.best == best
    (line,) = table.to_dict("records")
    assert (line["key"], line["configuration"], line["confirmed"]) == (
        best.key,
        str(best.candidate),
        best.is_confirmed,
    )
    assert [line[name] for name in ("speedup", "low", "high")] == pytest.approx(
        [best.speedup.ratio, best.speedup.low, best.speedup.high]
    )


def test_a_quotient_of_two_speed_ups() -> None:
    gain, over = Speedup(4.0, 2.0, 8.0), Speedup(2.0, 1.0, 4.0)
    found = quotient(gain, over)
    assert found.ratio == 2.0
    assert found.high / found.ratio == pytest.approx(2 ** math.sqrt(2))
    assert math.isnan(quotient(Speedup(2.0, math.nan, math.nan), over).low)


@pytest.mark.parametrize(
    ("oracle", "coarsened", "words"),
    [
        *(("reference", True, "reference"), ("reference", False, "reference")),
        *(("uncoarsened", True, "uncoarsened kernel"), ("", False, "")),
        *(("nothing", True, "not verified"), ("nothing", False, "is the original")),
    ],
)
def test_what_it_was_verified_against(oracle: str, coarsened: bool, words: str) -> None:
    assert verified_against(oracle, coarsened=coarsened) == words
