"""Regression trees of regrets: each version is an output, and a leaf answers with the one that loses least there.

features ─▶ ranks ─▶ scikit-learn's tree (depth ≤ 6, least inputs of a leaf, pruning) ─▶ questions and versions
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn import config_context
from sklearn.tree import DecisionTreeRegressor

from coarsen.dispatch.tree import Leaf, Split, Tree
from coarsen.models.inputs.choice_tree import shortened
from coarsen.models.inputs.ranks import Asked, Inside, Ranked, ranked, read_tree
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

    def leaf(inside: Inside) -> Tree:
        return Leaf(table.versions[int(table.regret[inside].mean(axis=0).argmin())])

    def split(asked: Asked, at_most: Tree, above: Tree) -> Tree:
        return Split(table.names[asked.feature], asked.threshold, at_most, above)

    if not table.is_splittable:
        return leaf(np.ones(len(table.regret), dtype=np.bool_))
    with config_context(skip_parameter_validation=True):
        fitted = _estimator(settings).fit(table.features.ranks, table.regret, check_input=False)
    return shortened(read_tree(fitted, table.features, leaf, split))


def prunings(table: RegretTable, least_inputs: int) -> tuple[float, ...]:
    """Return the prunings that make a difference: 0, then halfway between those at which the tree loses leaves."""
    if not table.is_splittable:
        return (0.0,)
    estimator = _estimator(TreeSettings(least_inputs, 0.0))
    path = estimator.cost_complexity_pruning_path(table.features.ranks, table.regret).ccp_alphas
    steps = np.unique(np.maximum(path, 0.0))
    return (0.0, *np.sqrt(steps[1:-1] * steps[2:]).tolist())


def _estimator(settings: TreeSettings) -> DecisionTreeRegressor:
    return DecisionTreeRegressor(
        max_depth=MOST_DEPTH,
        min_samples_leaf=settings.least_inputs,
        ccp_alpha=settings.pruning,
        random_state=_SEED,
    )
