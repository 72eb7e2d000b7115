"""Regression trees of regrets: each version is an output, and a leaf answers with the one that loses least there.

features ─▶ ranks ─▶ scikit-learn's tree (depth ≤ 6, least inputs of a leaf, pruning) ─▶ questions and versions

Trees are grown on ranks: scikit-learn has its inputs in single precision, which can't tell large sizes apart.
Thresholds are then put between the values that they part, halfway in octaves where both are above 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.tree import DecisionTreeRegressor

from coarsen.dispatch.tree import Leaf, Split, Tree
from coarsen.models.flat_forest import Array
from coarsen.models.inputs.times import VersionTimes

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
