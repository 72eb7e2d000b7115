"""Rounding is no mistake, and a mistake is no rounding: sums in other orders, contracted or not."""

from __future__ import annotations

import numpy as np
import pytest

from coarsen.tuning.measure.comparison import compare, rounding_tolerance, typical_magnitude
from coarsen.tuning.workload.benchmark import Array, Workload

ELEMENTS = 512


def mistakes(got: Array, wanted: Array, steps: int) -> list[str]:
    workload = Workload({}, (), ("sums",), None, rounding_steps=steps)
    return compare({"sums": got}, {"sums": wanted}, workload)


def sums(left: Array, right: Array, *, contracted: bool, kind: type[np.floating]) -> Array:
    """The sums of products along the last axis, term after term, rounded as a device does."""
    total = np.zeros(len(left), kind)
    for term in range(left.shape[1]):
        if contracted:  # one rounding: a product of two floats is exact in double precision
            product = left[:, term].astype(np.float64) * right[:, term]
            total = (product + total).astype(kind)
        else:
            total = total + left[:, term] * right[:, term]
    return total


@pytest.mark.parametrize("low", [-1, 0], ids=["terms cancel", "terms add up"])
@pytest.mark.parametrize("terms", [64, 4096])
def test_a_contracted_sum_is_right_and_a_wrong_element_is_not(terms: int, low: int) -> None:
    generator = np.random.default_rng(terms)
    left, right = (generator.uniform(low, 1, (ELEMENTS, terms)).astype(np.float32) for _ in "ab")
    plain = sums(left, right, contracted=False, kind=np.float32)
    for other in (sums(left, right, contracted=True, kind=np.float32), (left * right).sum(1, dtype=np.float32)):
        assert (other != plain).any(), "nothing to tolerate"
        assert mistakes(other, plain, 2 * terms) == []
    wrong = plain.copy()
    typical = int(np.argsort(np.abs(plain))[ELEMENTS // 2])
    wrong[typical] *= np.float32(1.001)
    assert "1 of 512 elements wrong" in mistakes(wrong, plain, 2 * terms)[0]


def test_an_element_that_cancels_is_judged_by_what_cancelled() -> None:
    wanted = np.array([100.0, 1e-6, -80.0], np.float32)
    got = wanted + np.float32(1e-5)
    assert mistakes(got, wanted, 64) == []
    assert mistakes(wanted + np.float32(1e-2), wanted, 64) != []


def test_few_large_elements_hide_no_mistake_in_small_ones() -> None:
    wanted = np.ones(1000, np.float32)
    wanted[:10] = 1e20
    got = wanted.copy()
    got[500] = 1.001
    assert "first at [500]" in mistakes(got, wanted, 64)[0]


def test_what_is_not_a_number_of_use_has_no_part_in_the_typical_magnitude() -> None:
    assert typical_magnitude(np.array([0.0, np.nan, -np.inf, -2.0, 2.0])) == 2.0
    assert typical_magnitude(np.zeros(4)) == 0.0
    assert typical_magnitude(np.arange(1, 1 << 20, dtype=np.float32)) == pytest.approx(1 << 19, rel=0.01)


def test_the_tolerance_follows_the_type_and_never_admits_everything() -> None:
    double, single, half = (rounding_tolerance(64, np.dtype(kind)) for kind in ("f8", "f4", "f2"))
    assert double < 1e-13 < single < 1e-5 < half
    assert rounding_tolerance(1 << 40, np.dtype("f2")) == 0.1


def test_whole_numbers_stay_exact() -> None:
    assert mistakes(np.array([10**6 + 1]), np.array([10**6]), 1 << 20) != []


def test_what_was_not_written_hides_no_mistake() -> None:
    before = np.full(1000, 3.0, np.float32)
    wanted = before.copy()
    wanted[:100] = 1e-6
    got = wanted.copy()
    got[50] = 0.0
    workload = Workload({"sums": before}, (), ("sums",), None, rounding_steps=64)
    assert "first at [50]" in compare({"sums": got}, {"sums": wanted}, workload)[0]
    assert compare({"sums": wanted}, {"sums": wanted}, workload) == []
