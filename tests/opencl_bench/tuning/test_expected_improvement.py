"""What is measured next: the variant of the largest expected improvement, by the model and by measurements."""

from __future__ import annotations

import math

import numpy as np
import pytest

from coarsen.models.launch.expected_improvement import Belief, Expected, expected_improvements
from coarsen.variant.coarsening import Coarsening, Level
from coarsen.variant.variant import Variant

OWN = Variant((64,))
PAIR, FOUR, GROUPS = (
    Variant((64,), (coarsening,))
    for coarsening in (Coarsening(2), Coarsening(4), Coarsening(4, level=Level.GROUP))
)
OTHER = Variant((256,))


VALUES = {OWN: (0.0, 0.0), PAIR: (-0.2, 0.1), FOUR: (-0.3, 0.3), GROUPS: (0.0, 0.4), OTHER: (0.0, 0.05)}


@pytest.fixture
def belief() -> Belief:
    return Belief({variant: Expected(*values) for variant, values in VALUES.items()})


def test_the_improvement_expected_of_normal_times() -> None:
    means, deviations = np.array([0.0, -0.5, 1.0, -0.5, 0.5]), np.array([1.0, 0.0, 0.0, 1e-9, 1.0])
    found = expected_improvements(means, deviations, 0.0)
    # At a mean of 0.5: φ(0.5) − 0.5 Φ(−0.5).
    assert found == pytest.approx([1 / math.sqrt(2 * math.pi), 0.5, 0.0, 0.5, 0.19779656], abs=1e-8)


def test_the_most_promising_comes_first_and_nothing_twice(belief: Belief) -> None:
    assert belief.most_promising({}, {OWN}) == FOUR
    assert belief.most_promising({}, {OWN, FOUR}) == PAIR
    assert belief.most_promising({}, set(belief.variants)) is None


def test_what_is_measured_is_known_and_tells_of_what_is_like_it(belief: Belief) -> None:
    slow = {FOUR: 1.0}
    found = belief.expected_of(FOUR, slow)
    assert found.mean == pytest.approx(1.0, abs=0.01) and found.deviation < 0.03
    near, far = (belief.expected_of(each, slow) for each in (PAIR, OTHER))
    assert near.mean > -0.2 + 0.1 and near.deviation < 0.1
    assert abs(far.mean) < 0.1, "a local size far from it has little to do with it"
    assert belief.expected_of(OWN, slow) == belief.expected_of(OWN, {})
    # The factor near the slow one is given up for what is unlike it.
    assert belief.most_promising(slow, {OWN, FOUR}) == GROUPS
