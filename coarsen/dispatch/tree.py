"""Trees of questions about features; each leaf is the number of a version."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from coarsen.errors import InvalidInputError

# Deeper trees have learned noise, and generated code nests as deep.
DEEPEST = 32
MOST_LEAVES = 1024
_INDENT = "    "


@dataclass(frozen=True, slots=True)
class Leaf:
    """An answer: the index of one of a file's versions."""

    version: int


@dataclass(frozen=True, slots=True)
class Split:
    """A question: a value of at most the threshold goes to `at_most`, a larger one to `above`.

    Raises:
        InvalidInputError: a whole number as the threshold that no double can hold.
    """

    feature: str
    threshold: float
    at_most: Tree
    above: Tree

    def __post_init__(self) -> None:
        if type(self.threshold) is int:
            try:
                object.__setattr__(self, "threshold", float(self.threshold))
            except OverflowError:
                raise InvalidInputError("a tree compares with a number that isn't finite") from None


Tree: TypeAlias = Leaf | Split


def walk(tree: Tree, values: Mapping[str, float]) -> tuple[tuple[Split, bool], ...]:
    """Return the questions on the way to the answer, each with True where the value is at most the threshold."""
    way: list[tuple[Split, bool]] = []
    while isinstance(tree, Split):
        is_at_most = values[tree.feature] <= tree.threshold
        way.append((tree, is_at_most))
        tree = tree.at_most if is_at_most else tree.above
    return tuple(way)


def answer(tree: Tree, values: Mapping[str, float]) -> int:
    """Return the version that a tree chooses."""
    way = walk(tree, values)
    if way:
        split, is_at_most = way[-1]
        tree = split.at_most if is_at_most else split.above
    if not isinstance(tree, Leaf):
        raise TypeError("a walk ends at a leaf")
    return tree.version


def nodes(tree: Tree) -> Iterator[Tree]:
    """Yield every question and answer, those of values at most the threshold first."""
    rest = [tree]
    while rest:
        node = rest.pop()
        yield node
        if isinstance(node, Split):
            rest += (node.above, node.at_most)


def features_of(tree: Tree) -> frozenset[str]:
    """Return the names of the features that a tree asks for."""
    return frozenset(node.feature for node in nodes(tree) if isinstance(node, Split))


def versions_of(tree: Tree) -> frozenset[int]:
    """Return the versions that a tree may choose."""
    return frozenset(node.version for node in nodes(tree) if isinstance(node, Leaf))


def check_tree(tree: Tree, features: frozenset[str], versions: int) -> None:
    """Check a tree before code is made of it.

    Args:
        tree: any.
        features: the names that it may ask for.
        versions: the number of versions that there are.

    Raises:
        InvalidInputError: it is too deep or too large, asks for another feature, compares with what is no finite
            number, or chooses a version that isn't there.
    """
    rest, leaves = [(tree, 0)], 0
    while rest:
        node, depth = rest.pop()
        if depth > DEEPEST:
            raise InvalidInputError(f"a tree is deeper than {DEEPEST} questions")
        if isinstance(node, Leaf):
            leaves += 1
            _check_leaf(node, versions)
        elif isinstance(node, Split):
            _check_split(node, features)
            rest += ((node.above, depth + 1), (node.at_most, depth + 1))
        else:
            raise InvalidInputError("a tree has what is neither a question nor an answer")
        if leaves > MOST_LEAVES:
            raise InvalidInputError(f"a tree has more than {MOST_LEAVES} answers")


def tree_from_json(value: object, depth: int = 0) -> Tree:
    """Read a tree, the number of a version or an object; `check_tree` says whether it makes sense.

    Raises:
        InvalidInputError: it isn't in that form, or is too deep.
    """
    if depth > DEEPEST:
        raise InvalidInputError(f"a tree is deeper than {DEEPEST} questions")
    if isinstance(value, int) and not isinstance(value, bool):
        return Leaf(value)
    if not isinstance(value, Mapping) or set(value) != {"feature", "threshold", "at_most", "above"}:
        raise InvalidInputError("a tree must be a version's number, or have feature, threshold, at_most and above")
    feature, threshold = value["feature"], value["threshold"]
    if not isinstance(feature, str) or not isinstance(threshold, int | float) or isinstance(threshold, bool):
        raise InvalidInputError("a question of a tree must have a feature's name and a number as the threshold")
    at_most, above = (tree_from_json(value[way], depth + 1) for way in ("at_most", "above"))
    return Split(feature, threshold, at_most, above)


def _check_leaf(leaf: Leaf, versions: int) -> None:
    if type(leaf.version) is not int or not 0 <= leaf.version < versions:
        raise InvalidInputError(f"a tree chooses the version {leaf.version!a}, of {versions} counted from 0")


def _check_split(split: Split, features: frozenset[str]) -> None:
    if split.feature not in features:
        raise InvalidInputError(f"a tree asks for {split.feature!a}, which is none of its features")
    if type(split.threshold) is not float or not math.isfinite(split.threshold):
        raise InvalidInputError("a tree compares with a number that isn't finite")


def rules(tree: Tree, depth: int = 0) -> Iterator[str]:
    """Enumerate the lines of a tree as rules."""
    indent = _INDENT * depth
    if isinstance(tree, Leaf):
        yield f"{indent}version {tree.version}"
        return
    yield f"{indent}if {tree.feature} <= {tree.threshold:g}:"
    yield from rules(tree.at_most, depth + 1)
    yield f"{indent}otherwise:"
    yield from rules(tree.above, depth + 1)
