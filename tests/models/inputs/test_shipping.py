"""What goes into a tuned file: the trees, and the versions that they can answer."""

from __future__ import annotations

import numpy as np

from coarsen.dispatch.tree import Leaf, Split, check_tree
from coarsen.models.inputs.regret_tree import regret_tree, shipped
from coarsen.models.inputs.times import CPU_MARGIN, InputPoint, VersionTimes
from tests.models.inputs.made_up import sizes, times_of, version

CROSSING = times_of([lambda n: 3 * (10 + n), lambda n: 10 + n, lambda n: 100 + n / 100], sizes(16, first=0), 0.01)


def with_contents() -> VersionTimes:
    """Twelve sizes with two contents each, which decide; the same sizes are one group."""
    points = [
        InputPoint(f"{n}-{skew}", f"{n}", {"n": float(n), "skew": skew}) for n in sizes(12) for skew in (0.5, 4.0)
    ]
    skews = [point.features["skew"] for point in points]
    seconds = [[2.5, 1.0 + 2 * (skew > 1), 1.0 + 2 * (skew < 1), 1.9] for skew in skews]
    noise = np.random.default_rng(0).normal(0, 0.01, (24, 4))
    return VersionTimes(tuple(points), tuple(map(version, range(4))), np.array(seconds) * np.exp(noise), 0)


def test_shipped_are_the_versions_that_can_be_answered_and_the_default() -> None:
    tree = regret_tree(CROSSING, CPU_MARGIN)
    kept, found = shipped(tree, CROSSING)
    assert kept == (0, 1, 2)
    assert isinstance(found, Split)
    assert (found.at_most, found.above) == (Leaf(1), Leaf(2))
    check_tree(found, frozenset({"n"}), len(kept))
    kept, few = shipped(regret_tree(CROSSING.of_inputs([15]), CPU_MARGIN), CROSSING)
    assert kept == (0, 2)
    assert few == Leaf(1)


def test_a_tree_that_asks_for_what_the_caller_supplies_is_shipped() -> None:
    times = with_contents()
    _, found = shipped(regret_tree(times, CPU_MARGIN, {"skew"}), times)
    assert isinstance(found, Split)
    assert found.feature == "skew"
