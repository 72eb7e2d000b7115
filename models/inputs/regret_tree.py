"""The regret tree, the default way to choose a version by an input's features.

Features that the caller supplies at a launch cost him something: they are asked about only where that lowers the
regret by 1 %, and a second tree stands beside for callers who give none.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass

from coarsen.dispatch.tree import Tree, answer, features_of, versions_of
from coarsen.models.inputs.portfolio import MOST_VERSIONS
from coarsen.models.inputs.settling import Settled, settled
from coarsen.models.inputs.times import VersionTimes

# By how much the mean regret must fall for features that the caller supplies: 1 % of the time.
LEAST_FALL = 0.01


@dataclass(frozen=True, slots=True)
class RegretTree:
    """A choice by features.

    Attributes:
        settled: the tree, and what led to it.
        without_supplied: the same without supplied features; None where the tree asks about none.
    """

    settled: Settled
    without_supplied: Settled | None = None

    @property
    def tree(self) -> Tree:
        """Return the tree over all features."""
        return self.settled.tree

    @property
    def versions(self) -> tuple[int, ...]:
        """Return the numbers of all versions that can be answered, in ascending order."""
        trees = [self.tree, *([self.without_supplied.tree] if self.without_supplied else [])]
        return tuple(sorted({number for tree in trees for number in versions_of(tree)}))

    def version(self, features: Mapping[str, float]) -> int:
        """Return the version for an input; without a supplied feature by the tree that asks about none."""
        if self.without_supplied is not None and not features_of(self.tree) <= features.keys():
            return answer(self.without_supplied.tree, features)
        return answer(self.tree, features)


def regret_tree(
    times: VersionTimes, margin: float, supplied: Set[str] = frozenset(), most: int = MOST_VERSIONS
) -> RegretTree:
    """Return the regret tree of some times.

    Args:
        times: of the inputs that may be learned from.
        margin: by what share of its time a version must be faster than others to be built.
        supplied: names of the features that the caller must supply at a launch.
        most: how many versions may be built, with the default one.
    """
    cheap = settled(times, [name for name in times.feature_names if name not in supplied], margin, most)
    if not supplied & set(times.feature_names):
        return RegretTree(cheap)
    dear = settled(times, times.feature_names, margin, most)
    if not features_of(dear.tree) & supplied or cheap.regret - dear.regret < LEAST_FALL:
        return RegretTree(cheap)
    return RegretTree(dear, cheap)
