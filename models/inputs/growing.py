"""Regression trees of regrets: each version is an output, and a leaf answers with the one that loses least there.

    features ─▶ ranks ─▶ scikit-learn's tree (depth ≤ 6, least inputs of a leaf, pruning) ─▶ questions and versions

Trees are grown on ranks: scikit-learn has its inputs in single precision, which can't tell large sizes apart.
Thresholds are then put between the values that they part, halfway in octaves where both are above 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.tree import DecisionTreeRegressor

from coarsen.dispatch.tree import Leaf, Split, Tree
from coarsen.models.inputs.choice_tree import shortened
from coarsen.models.inputs.times import VersionTimes
from coarsen.models.trees.arrays import Array

MOST_DEPTH = 6
_SEED = 0


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
class RegretTable:
    """What trees are grown on: features of n inputs, and their regrets with some versions.

    Attributes:
        names: of the features.
        values: of each feature, those that occur, in ascending order.
        ranks: of the inputs' values among these, (n, features).
        versions: their numbers, (m,).
        regret: (n, m).
    """

    names: tuple[str, ...]
    values: tuple[Array, ...]
    ranks: NDArray[np.float32]
    versions: tuple[int, ...]
    regret: Array


def regret_table(times: VersionTimes, versions: Sequence[int], names: Sequence[str]) -> RegretTable:
    """Return what trees over some versions by some features are grown on."""
    features = times.features(names)
    coded = [np.unique(column, return_inverse=True) for column in features.T]
    ranks = np.ascontiguousarray(np.array([places for _, places in coded]).T, dtype=np.float32)
    return RegretTable(
        names=tuple(names),
        values=tuple(values for values, _ in coded),
        ranks=ranks.reshape(features.shape),
        versions=tuple(versions),
        regret=np.ascontiguousarray(times.regret[:, list(versions)]),
    )


def grown(table: RegretTable, settings: TreeSettings) -> Tree:
    """Return the tree for some settings, without questions that change nothing."""
    if not table.names or len(table.versions) == 1:
        return _leaf(table, np.ones(len(table.regret), dtype=np.bool_))
    with config_context(skip_parameter_validation=True):
        nodes = _Nodes(_estimator(settings).fit(table.ranks, table.regret, check_input=False))
    return shortened(_read(table, nodes, 0, np.ones(len(table.regret), dtype=np.bool_)))


def prunings(table: RegretTable, least_inputs: int) -> tuple[float, ...]:
    """Return the prunings that make a difference: between those at which the tree loses a leaf, 0 first."""
    if not table.names or len(table.versions) == 1:
        return (0.0,)
    estimator = _estimator(TreeSettings(least_inputs, 0.0))
    path = np.maximum(estimator.cost_complexity_pruning_path(table.ranks, table.regret).ccp_alphas, 0.0)
    # The last one leaves a single leaf.
    steps = np.unique(path)[:-1]
    return (0.0, *np.sqrt(steps[:-1] * steps[1:]).tolist()[1:], *steps[1:][-1:].tolist())


def _estimator(settings: TreeSettings) -> DecisionTreeRegressor:
    return DecisionTreeRegressor(
        max_depth=MOST_DEPTH,
        min_samples_leaf=settings.least_inputs,
        ccp_alpha=settings.pruning,
        random_state=_SEED,
    )


class _Nodes:
    """The nodes of a fitted tree of scikit-learn, by number; the root is 0."""

    def __init__(self, estimator: DecisionTreeRegressor) -> None:
        tree = estimator.tree_
        self.at_most: list[int] = tree.children_left.tolist()
        self.above: list[int] = tree.children_right.tolist()
        self.feature: list[int] = tree.feature.tolist()
        self.threshold: list[float] = tree.threshold.tolist()


def _read(table: RegretTable, nodes: _Nodes, number: int, inside: NDArray[np.bool_]) -> Tree:
    """Return the tree below a node, whose inputs are those inside."""
    if nodes.at_most[number] < 0:
        return _leaf(table, inside)
    feature = nodes.feature[number]
    low = math.floor(nodes.threshold[number])
    at_most = table.ranks[:, feature] <= low
    return Split(
        feature=table.names[feature],
        threshold=between(*table.values[feature][low : low + 2].tolist()),
        at_most=_read(table, nodes, nodes.at_most[number], inside & at_most),
        above=_read(table, nodes, nodes.above[number], inside & ~at_most),
    )


def _leaf(table: RegretTable, inside: NDArray[np.bool_]) -> Leaf:
    return Leaf(table.versions[int(table.regret[inside].mean(axis=0).argmin())])


def between(low: float, high: float) -> float:
    """Return a threshold that parts two values: their geometric mean where both are above 0, else the mean."""
    middle = math.sqrt(low) * math.sqrt(high) if low > 0 else low + (high - low) / 2
    return middle if low <= middle < high else low
