"""Trees that answer with a version, as they are fitted: leaves counted, and needless questions dropped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from coarsen.dispatch.tree import Leaf, Tree, nodes


def leaves_of(tree: Tree) -> tuple[Leaf, ...]:
    """Return the leaves, from the least values on."""
    return tuple(node for node in nodes(tree) if isinstance(node, Leaf))


def shortened(tree: Tree) -> Tree:
    """Return the tree without the questions whose both answers are the same version."""
    if isinstance(tree, Leaf):
        return tree
    at_most, above = shortened(tree.at_most), shortened(tree.above)
    if isinstance(at_most, Leaf) and at_most == above:
        return at_most
    return replace(tree, at_most=at_most, above=above)


def renumbered(tree: Tree, numbers: Mapping[int, int]) -> Tree:
    """Return the tree with other numbers for its versions."""
    if isinstance(tree, Leaf):
        return Leaf(numbers[tree.version])
    return replace(tree, at_most=renumbered(tree.at_most, numbers), above=renumbered(tree.above, numbers))
