"""The scores, against what they are by hand."""

from __future__ import annotations

import math

import pytest

from coarsen.errors import InternalError
from coarsen.models.evaluation.scores import Interval, families_of, hit_score, log_speedups, speedup_score
from tests.models.evaluation.made_up import made_up, outcome

GAINS = made_up("sgemm", {2: 2.0, 4: 4.0})
LOSES = made_up("spmv", {2: 0.5, 4: 0.25})


def ends(interval: Interval) -> list[float]:
    return [interval.low, interval.high]


def test_a_method_without_randomness() -> None:
    score = speedup_score([outcome(GAINS, 2), outcome(LOSES, 2)], {})
    assert score.cases == 2
    assert score.geometric_mean == pytest.approx(1.0)  # √(2 · ½)
    assert score.share_of_oracle == pytest.approx(0.5)  # the oracle: √(4 · 1) = 2
    assert score.share_of_gain == pytest.approx(0.0)
    assert (score.worst, score.worst_case) == (0.5, ("spmv", "fermi"))
    assert (score.losses, score.fallbacks, score.given_up) == (1, 0, 0)
    assert score.spread is None
    assert ends(score.interval) == pytest.approx([0.5, 2.0])


def test_the_share_of_the_gain_is_of_logarithms() -> None:
    score = speedup_score([outcome(GAINS, 2), outcome(LOSES, 1)], {})
    assert score.geometric_mean == pytest.approx(math.sqrt(2))
    assert score.share_of_oracle == pytest.approx(math.sqrt(2) / 2)
    assert score.share_of_gain == pytest.approx(0.5)


def test_where_nothing_can_be_gained_there_is_no_share_of_it() -> None:
    score = speedup_score([outcome(LOSES, 1)], {})
    assert (score.share_of_oracle, score.share_of_gain) == (1.0, None)


def test_several_seeds() -> None:
    # Seed 0: 4 and 1; seed 1: 1 and ¼.
    outcomes = [outcome(GAINS, 4, 0), outcome(LOSES, 1, 0), outcome(GAINS, 1, 1), outcome(LOSES, 8, 1)]
    score = speedup_score(outcomes, {})
    assert score.geometric_mean == pytest.approx(1.0)  # the mean of the logarithms of 2 and ½
    assert score.spread is not None
    assert [score.spread.seeds, score.spread.low, score.spread.high] == pytest.approx([2, 0.5, 2])
    assert score.spread.standard_deviation == pytest.approx(1.5 / math.sqrt(2))
    assert (score.worst, score.losses, score.fallbacks) == (0.25, 0.5, 0.5)
    # Intervals are of each kernel's mean over seeds: √(4 · 1) = 2 and √(1 · ¼) = ½.
    assert ends(score.interval) == pytest.approx([0.5, 2.0])


def test_a_ratio_to_another_method_is_paired() -> None:
    more = made_up("mt", {2: 3.0, 4: 6.0})
    score = speedup_score([outcome(GAINS, 4), outcome(more, 4)], {"unique": [outcome(GAINS, 2), outcome(more, 2)]})
    # Each kernel runs twice as fast, so the interval has no width, though the speed-ups differ.
    assert score.over["unique"].value == pytest.approx(2.0)
    assert ends(score.over["unique"].interval) == pytest.approx([2.0, 2.0])


def test_a_ratio_needs_the_same_kernels() -> None:
    with pytest.raises(InternalError, match="different cases"):
        speedup_score([outcome(GAINS, 4)], {"unique": [outcome(LOSES, 2)]})


def test_given_up_choices_count_as_losses() -> None:
    score = speedup_score([outcome(made_up("mriQ", {2: 1.1, 4: 0.1}), 4)], {})
    assert [score.given_up, score.losses, score.worst] == pytest.approx([1, 1, 0.1])


@pytest.mark.parametrize(("speedup", "losses"), [(0.9499, 1), (0.9501, 0), (1.2, 0)])
def test_a_loss_is_below_0_95(speedup: float, losses: int) -> None:
    assert speedup_score([outcome(made_up("mt", {2: speedup}), 2)], {}).losses == losses


def test_a_kernel_is_a_case_on_each_device() -> None:
    elsewhere = made_up("sgemm", {2: 8.0}, device="cypress")
    score = speedup_score([outcome(GAINS, 2), outcome(elsewhere, 2)], {})
    assert [score.cases, score.geometric_mean] == pytest.approx([2, 4.0])
    # One family: there is nothing to draw from.
    assert ends(score.interval) == pytest.approx([4.0, 4.0])


def test_kernels_and_families_stay_in_step() -> None:
    outcomes = [outcome(made_up(name, {2: 2.0}), 2) for name in ("spmv", "mtLocal", "sgemm", "mt")]
    assert [kernel for kernel, _ in log_speedups(outcomes)] == ["spmv", "mtLocal", "sgemm", "mt"]
    assert families_of(outcomes) == ["spmv", "mt", "sgemm", "mt"]


def test_hits() -> None:
    known = [made_up(f"k{index}", {}, best=best) for index, best in enumerate((1, 4, 16, 2))]
    score = hit_score([outcome(example, 4) for example in known])
    assert (score.cases, score.exact, score.within_one_doubling) == (4, 1, 2)
    assert score.mean_error == pytest.approx((2 + 0 + 2 + 1) / 4)
    assert score.interval.low <= score.mean_error <= score.interval.high
    assert score.spread is None


def test_hits_over_seeds() -> None:
    known = made_up("sgemm", {}, best=4)
    score = hit_score([outcome(known, 4, 0), outcome(known, 1, 1)])
    assert (score.exact, score.within_one_doubling, score.mean_error) == (0.5, 0.5, 1.0)
    assert score.spread is not None and (score.spread.low, score.spread.high) == (0.0, 2.0)
