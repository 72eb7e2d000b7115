"""The regret tree, which chooses a version by an input's features, and what a tuned file has of it.

    for each group:  portfolio, fixed best and trees of the other inputs ─▶ regret on the group
    the trees that gain half the margin of noise and one standard error over the fixed best; without any, that one
    of these the tree of the fewest leaves among those within one standard error of the best (Breiman et al. 1984)

One leaf is the fixed best: asking about inputs must earn its place. Features that the caller supplies at a launch
are asked about only where that lowers the regret by 1 %.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace

import numpy as np

from coarsen.dispatch.tree import Leaf, Tree, answer, features_of, nodes, versions_of
from coarsen.models.flat_forest import Array
from coarsen.models.inputs.growing import RegretTable, TreeSettings, grown, prunings, regret_table
from coarsen.models.inputs.times import MOST_VERSIONS, VersionTimes, fixed_best, portfolio

LEAST_INPUTS = (1, 2, 3, 5)
# By how much the mean regret must fall for features that the caller supplies: 1 % of the time.
LEAST_FALL = 0.01
# The place of the fixed best among the candidates.
_FIXED = 0


def regret_tree(
    times: VersionTimes, margin: float, supplied: Set[str] = frozenset(), most: int = MOST_VERSIONS
) -> Tree:
    """Return the regret tree of some times; its leaves have numbers of versions of the matrix.

    Args:
        times: of the inputs that may be learned from.
        margin: by what share of its time a version must be faster than others to be built.
        supplied: names of the features that the caller must supply at a launch.
        most: how many versions may be built, with the default one.
    """
    cheap, its_regret = _settled(
        times, [name for name in times.feature_names if name not in supplied], margin, most
    )
    if not supplied & set(times.feature_names):
        return cheap
    dear, regret = _settled(times, times.feature_names, margin, most)
    return dear if features_of(dear) & supplied and its_regret - regret >= LEAST_FALL else cheap


def shipped(tree: Tree, times: VersionTimes) -> tuple[tuple[int, ...], Tree]:
    """Return what a tuned file has of a tree that was fitted to some times.

    Returns:
        the numbers of the versions that can be answered, and of the default one; and the tree over these, with
        their places as numbers.
    """
    kept = tuple(sorted({*versions_of(tree), times.default}))
    return kept, renumbered(tree, {column: number for number, column in enumerate(kept)})


def renumbered(tree: Tree, numbers: Mapping[int, int]) -> Tree:
    """Return the tree with other numbers for its versions."""
    if isinstance(tree, Leaf):
        return Leaf(numbers[tree.version])
    return replace(tree, at_most=renumbered(tree.at_most, numbers), above=renumbered(tree.above, numbers))


# A tree, and how far it was grown; None for the fixed best.
_Candidate = tuple[Tree, TreeSettings | None]


def _settled(times: VersionTimes, names: Sequence[str], margin: float, most: int) -> tuple[Tree, float]:
    """Return the tree over some features, and its mean regret on inputs of groups that were left out."""
    candidates = _candidates(times, names, margin, most)
    regrets = _left_out(times, names, candidates, margin, most)
    means = regrets.mean(axis=1)
    # Gains over the fixed best that are more than noise.
    gains = regrets[_FIXED] - regrets
    earning = [
        number for number, gain in enumerate(gains) if gain.mean() > max(margin / 2, _standard_error(gain, times))
    ]
    chosen = _FIXED
    if earning:
        best = min(earning, key=lambda number: means[number])
        within = means[best] + _standard_error(regrets[best], times)
        good = [number for number in earning if means[number] <= within]
        leaves = [sum(isinstance(node, Leaf) for node in nodes(tree)) for tree, _ in candidates]
        chosen = min(good, key=lambda number: (leaves[number], means[number]))
    return candidates[chosen][0], float(means[chosen])


def _candidates(times: VersionTimes, names: Sequence[str], margin: float, most: int) -> list[_Candidate]:
    """The fixed best, then one setting for each tree that some make."""
    table = regret_table(times, portfolio(times, margin, most), names)
    by_tree: dict[Tree, list[TreeSettings]] = {}
    for least_inputs in LEAST_INPUTS:
        for pruning in prunings(table, least_inputs):
            settings = TreeSettings(least_inputs, pruning)
            by_tree.setdefault(grown(table, settings), []).append(settings)
    trees = ((tree, found) for tree, found in by_tree.items() if not isinstance(tree, Leaf))
    return [(Leaf(fixed_best(times)), None), *((tree, found[len(found) // 2]) for tree, found in trees)]


def _left_out(
    times: VersionTimes, names: Sequence[str], candidates: Sequence[_Candidate], margin: float, most: int
) -> Array:
    """The regret of each candidate's settings on each input, (candidates, n), from inputs of other groups."""
    regret = times.regret
    found = np.zeros((len(candidates), len(times.inputs)))
    for group in times.groups:
        others = times.of_inputs(times.outside([group])) if len(times.groups) > 1 else times
        table = regret_table(others, portfolio(others, margin, most), names)
        fixed = Leaf(fixed_best(others))
        for number, (_, settings) in enumerate(candidates):
            tree = _grown(table, settings, fixed)
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
