"""The regret tree, which chooses a version by an input's features, and what a tuned file has of it.

    for each group:  portfolio, fixed best and trees of the other inputs ─▶ regret on the group
    the trees that gain half the margin of noise and one standard error over the fixed best; without any, that one
    of these the tree of the fewest leaves among those within one standard error of the best (Breiman et al. 1984)

One leaf is the fixed best: asking about inputs must earn its place.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.tree import DecisionTreeRegressor

from coarsen.dispatch.tree import Leaf, Split, Tree, answer, nodes, versions_of
from coarsen.models.flat_forest import Array
from coarsen.models.inputs.times import MOST_VERSIONS, VersionTimes, fixed_best, portfolio

MOST_DEPTH = 6
_SEED = 0
Inside = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class TreeSettings:
    """How far a tree is grown.

    Attributes:
        least_inputs: of a leaf.
        pruning: the least fall of the squared error for each further leaf (cost-complexity pruning, Breiman et al.
            1984), as a mean over inputs and versions.
    """

    least_inputs: int
    pruning: float


@dataclass(frozen=True, slots=True)
class Ranked:
    """Features of n inputs.

    Attributes:
        values: of each feature, those that occur, in ascending order.
        ranks: of the inputs' values among these, (n, features), for scikit-learn.
    """

    values: tuple[Array, ...]
    ranks: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class RegretTable:
    """What trees are grown on: features of n inputs, and their regrets with some versions.

    Attributes:
        names: of the features.
        features: their ranks, (n, features).
        versions: their numbers, (m,).
        regret: (n, m).
    """

    names: tuple[str, ...]
    features: Ranked
    versions: tuple[int, ...]
    regret: Array

    @property
    def is_splittable(self) -> bool:
        """Return True if there is something to ask about, and to answer."""
        return bool(self.names) and len(self.versions) > 1


def regret_table(times: VersionTimes, versions: Sequence[int], names: Sequence[str]) -> RegretTable:
    """Return what trees over some versions by some features are grown on."""
    regret = np.ascontiguousarray(times.regret[:, list(versions)])
    return RegretTable(tuple(names), ranked(times.features(names)), tuple(versions), regret)


def grown(table: RegretTable, settings: TreeSettings) -> Tree:
    """Return the tree for some settings, without questions that change nothing."""
    everything = np.ones(len(table.regret), dtype=np.bool_)

    def leaf(inside: Inside) -> Tree:
        return Leaf(table.versions[int(table.regret[inside].mean(axis=0).argmin())])

    if not table.is_splittable:
        return leaf(everything)
    with config_context(skip_parameter_validation=True):
        fitted = _estimator(settings).fit(table.features.ranks, table.regret, check_input=False)
    nodes = fitted.tree_
    below, above = nodes.children_left.tolist(), nodes.children_right.tolist()
    places, ranks = nodes.feature.tolist(), nodes.threshold.tolist()

    def read(number: int, inside: Inside) -> Tree:
        if below[number] < 0:
            return leaf(inside)
        threshold, is_low = question(table.features, places[number], ranks[number])
        at_most = read(below[number], inside & is_low)
        return Split(table.names[places[number]], threshold, at_most, read(above[number], inside & ~is_low))

    return shortened(read(0, everything))


def question(features: Ranked, place: int, rank: float) -> tuple[float, Inside]:
    """Return a question about a feature's rank as one about its value: the threshold, and what is at most it."""
    low = math.floor(rank)
    threshold = between(*features.values[place][low : low + 2].tolist())
    return threshold, features.ranks[:, place] <= low


def prunings(table: RegretTable, least_inputs: int) -> tuple[float, ...]:
    """Return the prunings that make a difference: 0, then halfway between those at which the tree loses leaves."""
    if not table.is_splittable:
        return (0.0,)
    estimator = _estimator(TreeSettings(least_inputs, 0.0))
    path = estimator.cost_complexity_pruning_path(table.features.ranks, table.regret).ccp_alphas
    steps = np.unique(np.maximum(path, 0.0))
    return (0.0, *np.sqrt(steps[1:-1] * steps[2:]).tolist())


def shortened(tree: Tree) -> Tree:
    """Return the tree without the questions whose both answers are the same version."""
    if isinstance(tree, Leaf):
        return tree
    at_most, above = shortened(tree.at_most), shortened(tree.above)
    if isinstance(at_most, Leaf) and at_most == above:
        return at_most
    return replace(tree, at_most=at_most, above=above)


def ranked(features: Array) -> Ranked:
    """Return features, (n, features), as ranks."""
    coded = [np.unique(column, return_inverse=True) for column in features.T]
    ranks = np.zeros(features.shape, dtype=np.float32)
    for place, (_, own) in enumerate(coded):
        ranks[:, place] = own
    return Ranked(tuple(values for values, _ in coded), ranks)


def between(low: float, high: float) -> float:
    """Return a threshold that parts two values: their geometric mean where both are above 0, else the mean."""
    middle = math.sqrt(low) * math.sqrt(high) if low > 0 else low + (high - low) / 2
    return middle if low <= middle < high else low


def _estimator(settings: TreeSettings) -> DecisionTreeRegressor:
    return DecisionTreeRegressor(
        max_depth=MOST_DEPTH,
        min_samples_leaf=settings.least_inputs,
        ccp_alpha=settings.pruning,
        random_state=_SEED,
    )


LEAST_INPUTS = (1, 2, 3, 5)
# The place of the fixed best among the candidates.
_FIXED = 0


def regret_tree(times: VersionTimes, margin: float, most: int = MOST_VERSIONS) -> Tree:
    """Return the regret tree of some times; its leaves have numbers of versions of the matrix.

    Args:
        times: of the inputs that may be learned from.
        margin: by what share of its time a version must be faster than others to be built.
        most: how many versions may be built, with the default one.
    """
    candidates = _candidates(times, margin, most)
    regrets = _left_out(times, candidates, margin, most)
    means = regrets.mean(axis=1)
    # Gains over the fixed best that are more than noise.
    gains = regrets[_FIXED] - regrets
    earning = [
        number for number, gain in enumerate(gains) if gain.mean() > max(margin / 2, _standard_error(gain, times))
    ]
    if not earning:
        return candidates[_FIXED][0]
    best = min(earning, key=lambda number: means[number])
    within = means[best] + _standard_error(regrets[best], times)
    good = [number for number in earning if means[number] <= within]
    leaves = [sum(isinstance(node, Leaf) for node in nodes(tree)) for tree, _ in candidates]
    return candidates[min(good, key=lambda number: (leaves[number], means[number]))][0]


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


def _candidates(times: VersionTimes, margin: float, most: int) -> list[_Candidate]:
    """The fixed best, then one setting for each tree that some make."""
    table = regret_table(times, portfolio(times, margin, most), times.feature_names)
    by_tree: dict[Tree, list[TreeSettings]] = {}
    for least_inputs in LEAST_INPUTS:
        for pruning in prunings(table, least_inputs):
            settings = TreeSettings(least_inputs, pruning)
            by_tree.setdefault(grown(table, settings), []).append(settings)
    trees = ((tree, found) for tree, found in by_tree.items() if not isinstance(tree, Leaf))
    return [(Leaf(fixed_best(times)), None), *((tree, found[len(found) // 2]) for tree, found in trees)]


def _left_out(times: VersionTimes, candidates: Sequence[_Candidate], margin: float, most: int) -> Array:
    """The regret of each candidate's settings on each input, (candidates, n), from inputs of other groups."""
    regret = times.regret
    found = np.zeros((len(candidates), len(times.inputs)))
    for group in times.groups:
        others = times.of_inputs(times.outside([group])) if len(times.groups) > 1 else times
        table = regret_table(others, portfolio(others, margin, most), times.feature_names)
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
