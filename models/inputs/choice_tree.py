"""Trees that answer with a version: walking, listing and shortening them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Leaf:
    """Answers with a version, by its number."""

    version: int


@dataclass(frozen=True, slots=True)
class Split:
    """Asks whether a feature is at most a threshold."""

    feature: str
    threshold: float
    at_most: Tree
    above: Tree


Tree = Leaf | Split


def version_of(tree: Tree, features: Mapping[str, float]) -> int:
    """Return the version that a tree answers with for an input's features."""
    while isinstance(tree, Split):
        tree = tree.at_most if features[tree.feature] <= tree.threshold else tree.above
    return tree.version


def leaves_of(tree: Tree) -> Iterator[Leaf]:
    """Enumerate the leaves, from the least values on."""
    if isinstance(tree, Leaf):
        yield tree
        return
    yield from leaves_of(tree.at_most)
    yield from leaves_of(tree.above)


def asked_by(tree: Tree) -> frozenset[str]:
    """Return the names of the features that a tree asks about."""
    if isinstance(tree, Leaf):
        return frozenset()
    return frozenset({tree.feature}) | asked_by(tree.at_most) | asked_by(tree.above)


def shortened(tree: Tree) -> Tree:
    """Return the tree without the questions whose both answers end at the same version."""
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
