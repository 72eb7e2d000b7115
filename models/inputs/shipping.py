"""The versions that a choice needs, numbered anew: what a tuned file has."""

from __future__ import annotations

from dataclasses import dataclass

from coarsen.dispatch.tree import Tree
from coarsen.models.inputs.choice_tree import renumbered
from coarsen.models.inputs.regret_tree import RegretTree
from coarsen.models.inputs.times import VersionTimes
from coarsen.variant.variant import Variant


@dataclass(frozen=True, slots=True)
class Shipped:
    """Versions and how one is chosen.

    Attributes:
        versions: all that can be answered, and the default one.
        default: the number of the default one.
        tree: over all features; its leaves are numbers of `versions`.
        tree_without_supplied: for callers who supply no features; None where `tree` asks for none.
    """

    versions: tuple[Variant, ...]
    default: int
    tree: Tree
    tree_without_supplied: Tree | None


def shipped(choice: RegretTree, times: VersionTimes) -> Shipped:
    """Return what is shipped of a choice.

    Args:
        choice: fitted to the times.
        times: have the versions.
    """
    kept = sorted({*choice.versions, times.default})
    numbers = {column: number for number, column in enumerate(kept)}
    without = choice.without_supplied
    return Shipped(
        versions=tuple(times.versions[column] for column in kept),
        default=numbers[times.default],
        tree=renumbered(choice.tree, numbers),
        tree_without_supplied=None if without is None else renumbered(without.tree, numbers),
    )
