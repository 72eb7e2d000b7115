"""What goes into a tuned file: the trees, and the versions that they can answer."""

from __future__ import annotations

from coarsen.dispatch.tree import Leaf, Split, check_tree
from coarsen.models.inputs.regret_tree import regret_tree, shipped
from coarsen.models.inputs.times import CPU_MARGIN
from tests.models.inputs.made_up import sizes, times_of

CROSSING = times_of([lambda n: 3 * (10 + n), lambda n: 10 + n, lambda n: 100 + n / 100], sizes(16, first=0), 0.01)


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
