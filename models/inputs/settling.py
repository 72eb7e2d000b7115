"""How far a regret tree is grown: by leaving out one group of inputs after another, towards fewer leaves.

    for each group:  portfolio, fixed best and trees of the other inputs ─▶ regret on the group
    the trees that gain half the margin of noise and one standard error over the fixed best; without any, that one
    of these the tree of the fewest leaves among those within one standard error of the best (Breiman et al. 1984)

One leaf is the fixed best: asking about inputs must earn its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from coarsen.dispatch.tree import Leaf, Tree, answer
from coarsen.models.inputs.choice_tree import leaves_of
from coarsen.models.inputs.fixed import fixed_best
from coarsen.models.inputs.growing import RegretTable, TreeSettings, grown, prunings, regret_table
from coarsen.models.inputs.portfolio import portfolio
from coarsen.models.inputs.times import VersionTimes
from coarsen.models.trees.arrays import Array

LEAST_INPUTS = (1, 2, 3, 5)
# The place of the fixed best among the candidates.
_FIXED = 0


@dataclass(frozen=True, slots=True)
class Settled:
    """A tree, and what led to it.

    Attributes:
        tree: its leaves have numbers of versions of the matrix.
        settings: how far it was grown; None for the fixed best.
        regret: mean over the inputs, each of a group that was left out.
        regret_of_fixed: the same of the fixed best.
    """

    tree: Tree
    settings: TreeSettings | None
    regret: float
    regret_of_fixed: float


@dataclass(frozen=True, slots=True)
class _Candidate:
    settings: TreeSettings | None
    tree: Tree

    @property
    def leaves(self) -> int:
        return len(leaves_of(self.tree))


def settled(times: VersionTimes, names: Sequence[str], margin: float, most: int) -> Settled:
    """Return the tree of some times.

    Args:
        times: of the inputs that may be learned from.
        names: of the features that the tree may ask about.
        margin: see `portfolio`; `most` as well.
    """
    candidates = _candidates(times, names, margin, most)
    regrets = _left_out(times, names, candidates, margin, most)
    means = regrets.mean(axis=1)
    earning = [
        number for number in range(len(candidates)) if _earns(regrets[_FIXED] - regrets[number], times, margin)
    ]
    chosen = _simplest(candidates, regrets, earning, times) if earning else _FIXED
    return Settled(
        tree=candidates[chosen].tree,
        settings=candidates[chosen].settings,
        regret=float(means[chosen]),
        regret_of_fixed=float(means[_FIXED]),
    )


def _earns(gain: Array, times: VersionTimes, margin: float) -> bool:
    """Tell whether the inputs' gains over the fixed best are more than noise."""
    return bool(gain.mean() > max(margin / 2, _standard_error(gain, times)))


def _simplest(
    candidates: Sequence[_Candidate], regrets: Array, allowed: Sequence[int], times: VersionTimes
) -> int:
    """The tree of the fewest leaves among those within a standard error of the best."""
    means = regrets.mean(axis=1)
    best = min(allowed, key=lambda number: means[number])
    most = means[best] + _standard_error(regrets[best], times)
    good = [number for number in allowed if means[number] <= most]
    return min(good, key=lambda number: (candidates[number].leaves, means[number]))


def _candidates(times: VersionTimes, names: Sequence[str], margin: float, most: int) -> list[_Candidate]:
    """The fixed best, then one setting for each tree that some make."""
    table = regret_table(times, portfolio(times, margin, most), names)
    by_tree: dict[Tree, list[TreeSettings]] = {}
    for least_inputs in LEAST_INPUTS:
        for pruning in prunings(table, least_inputs):
            settings = TreeSettings(least_inputs, pruning)
            by_tree.setdefault(grown(table, settings), []).append(settings)
    trees = ((tree, found) for tree, found in by_tree.items() if not isinstance(tree, Leaf))
    return [
        _Candidate(None, Leaf(fixed_best(times).number)),
        *(_Candidate(found[len(found) // 2], tree) for tree, found in trees),
    ]


def _left_out(
    times: VersionTimes, names: Sequence[str], candidates: Sequence[_Candidate], margin: float, most: int
) -> Array:
    """The regret of each candidate's settings on each input, (candidates, n), from inputs of other groups."""
    regret = times.regret
    found = np.zeros((len(candidates), len(times.inputs)))
    for group in times.groups:
        others = times.of_inputs(times.outside([group])) if len(times.groups) > 1 else times
        table = regret_table(others, portfolio(others, margin, most), names)
        fixed = Leaf(fixed_best(others).number)
        for number, candidate in enumerate(candidates):
            tree = _grown(table, candidate.settings, fixed)
            for row in times.in_groups([group]):
                found[number, row] = regret[row, answer(tree, times.inputs[row].features)]
    return found


def _grown(table: RegretTable, settings: TreeSettings | None, fixed: Leaf) -> Tree:
    if settings is None:
        return fixed
    tree = grown(table, settings)
    return fixed if isinstance(tree, Leaf) else tree


def _standard_error(values: Array, times: VersionTimes) -> float:
    """The standard error of a mean over inputs, whose groups are independent of each other."""
    if len(times.groups) < 2:
        return 0.0
    sums = np.array([values[list(times.in_groups([group]))].sum() for group in times.groups])
    return float(sums.std(ddof=1) * np.sqrt(len(sums)) / len(values))
