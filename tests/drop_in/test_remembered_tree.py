"""The tree over remembered sizes: equal extents of launches of one dimension and of two, and its bounds."""

from __future__ import annotations

from coarsen.dispatch.tree import Leaf, Split, Tree
from coarsen.policy.tree import RememberedSize, remembered_tree


def answer(tree: Tree, features: dict[str, float]) -> int:
    while isinstance(tree, Split):
        tree = tree.at_most if features[tree.feature] <= tree.threshold else tree.above
    assert isinstance(tree, Leaf)
    return tree.version


def sizes(*extents: int) -> dict[str, float]:
    return {"local": 0.0, **{f"items_{dimension}": float(extent) for dimension, extent in enumerate(extents)}}


def test_of_equal_extents_the_first_counts() -> None:
    tree = remembered_tree([RememberedSize((64,), None, 1), RememberedSize((64, 1), None, 2)], 0)
    assert answer(tree, sizes(64, 1, 1)) == 1


def test_further_dimensions_are_far_from_launches_that_have_none() -> None:
    tree = remembered_tree([RememberedSize((4096,), None, 1)], 0)
    assert answer(tree, sizes(4096, 1, 1)) == 1
    assert answer(tree, sizes(4096, 4096, 64)) == 0
    assert answer(tree, sizes(4 * 4096 + 1, 1, 1)) == 0
