"""The trees of Liu, Zhang and Shen (IPDPS 2009), to compare with: one for each parameter, from each input's best.

    best vectors of the inputs ─▶ a tree for each parameter: questions by entropy, leaves by least mean squares
    features ─▶ a number for each parameter ─▶ nearest legal values ─▶ nearest vector that was built

The paper has a version built "for each parameter vector that is considered as the best for some training inputs".
It doesn't say when a tree stops: here the least inputs of a leaf are those that lose least when groups are left
out; of equal ones the most, since leaves are linear.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from sklearn import config_context
from sklearn.tree import DecisionTreeClassifier

from coarsen.models.flat_forest import Array
from coarsen.models.inputs.regret_tree import Inside, question, ranked
from coarsen.models.inputs.times import VersionTimes
from tests.models.inputs.parameters import Parameter, parameters_of

LEAST_INPUTS = (8, 4, 2, 1)
_SEED = 0


@dataclass(frozen=True, slots=True)
class LinearLeaf:
    """Answers with offset + slopes · (features − center)."""

    offset: float
    center: tuple[float, ...]
    slopes: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """Asks whether a feature, by its place, is at most a threshold."""

    feature: int
    threshold: float
    at_most: LinearTree
    above: LinearTree


LinearTree = LinearLeaf | Question


@dataclass(frozen=True, slots=True)
class PaperTrees:
    """A tree for each parameter.

    Attributes:
        names: of the features.
        parameters: of all versions.
        trees: one for each parameter.
        built: numbers of the versions that are built: those that were best on some input.
    """

    names: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    trees: tuple[LinearTree, ...]
    built: tuple[int, ...]

    def version(self, features: Mapping[str, float]) -> int:
        """Return the version whose vector is nearest to what the trees answer.

        Near is a vector that differs in the fewest parameters, then by the fewest legal values.
        """
        wanted = self.vector(features)
        return min(self.built, key=lambda number: _distance(self.parameters, wanted, number))

    def is_built(self, features: Mapping[str, float]) -> bool:
        """Return True if the vector that the trees answer was built as it is."""
        return _distance(self.parameters, self.vector(features), self.version(features)) == (0, 0)

    def vector(self, features: Mapping[str, float]) -> tuple[float, ...]:
        """Return the legal value of each parameter that is nearest to what its tree answers."""
        row = np.array([features[name] for name in self.names], dtype=np.float64)
        numbers = (_answer(tree, row) for tree in self.trees)
        return tuple(
            _nearest_legal(parameter, number) for parameter, number in zip(self.parameters, numbers, strict=True)
        )


def paper_trees(times: VersionTimes, names: Sequence[str]) -> PaperTrees:
    """Return the trees of some times.

    Args:
        times: of the inputs that may be learned from.
        names: of the features that the trees may ask about.
    """
    parameters = parameters_of(times.versions)
    regret, rows = times.regret, times.features(names)

    def left_out(least_inputs: int) -> float:
        """Return the sum of the regrets on groups that were left out."""
        lost = 0.0
        for group in times.groups if len(times.groups) > 1 else ():
            learned = times.outside([group])
            trees = _fitted(times, parameters, names, rows, learned, least_inputs)
            held_out = times.in_groups([group])
            lost += sum(regret[row, trees.version(times.inputs[row].features)] for row in held_out)
        return lost

    least_inputs = min(LEAST_INPUTS, key=left_out)
    return _fitted(times, parameters, names, rows, range(len(times.inputs)), least_inputs)


def _fitted(
    times: VersionTimes,
    parameters: Sequence[Parameter],
    names: Sequence[str],
    rows: Array,
    learned: Sequence[int],
    least_inputs: int,
) -> PaperTrees:
    best = np.nanargmin(times.seconds[list(learned)], axis=1)
    chosen = rows[list(learned)]
    trees = tuple(
        _tree_of(
            chosen.shape, chosen.tobytes(), np.array(parameter.values, np.float64)[best].tobytes(), least_inputs
        )
        for parameter in parameters
    )
    return PaperTrees(tuple(names), tuple(parameters), trees, tuple(sorted(set(best.tolist()))))


@lru_cache(maxsize=1 << 15)
def _tree_of(shape: tuple[int, int], rows: bytes, values: bytes, least_inputs: int) -> LinearTree:
    """Return the tree of one parameter, fitted once: folds have most of what their own folds learn from in common.

    Args:
        shape: of the inputs' features.
        rows: these features, as bytes.
        values: the best values on the inputs, likewise.
        least_inputs: of a leaf.
    """
    return _tree(np.frombuffer(rows).reshape(shape), np.frombuffer(values), least_inputs)


def _tree(rows: Array, values: Array, least_inputs: int) -> LinearTree:
    """Return the tree of one parameter, whose best values on the inputs are given."""

    def leaf(inside: Inside) -> LinearTree:
        return _linear(rows[inside], values[inside])

    if not rows.shape[1] or len(set(values.tolist())) == 1:
        return _linear(rows, values)
    features = ranked(rows)
    # As names: of numbers that are nearly all different scikit-learn warns that they might be no classes.
    classes = values.astype(str)
    classifier = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=least_inputs, random_state=_SEED)
    with config_context(skip_parameter_validation=True):
        fitted = classifier.fit(features.ranks, classes, check_input=False)
    nodes = fitted.tree_

    def read(number: int, inside: Inside) -> LinearTree:
        if nodes.children_left[number] < 0:
            return leaf(inside)
        threshold, is_low = question(features, int(nodes.feature[number]), nodes.threshold[number])
        at_most = read(nodes.children_left[number], inside & is_low)
        return Question(
            int(nodes.feature[number]), threshold, at_most, read(nodes.children_right[number], inside & ~is_low)
        )

    return read(0, np.ones(len(rows), dtype=np.bool_))


def _linear(rows: Array, values: Array) -> LinearLeaf:
    """Return the linear model of least mean squares; of several the one with the smallest slopes."""
    center = rows.mean(axis=0)
    offset = float(values.mean())
    scale = np.where(rows.std(axis=0) > 0, rows.std(axis=0), 1.0)
    slopes = np.linalg.lstsq((rows - center) / scale, values - offset, rcond=1e-9)[0] / scale
    return LinearLeaf(offset, tuple(center.tolist()), tuple(slopes.tolist()))


def _answer(tree: LinearTree, row: Array) -> float:
    while isinstance(tree, Question):
        tree = tree.at_most if row[tree.feature] <= tree.threshold else tree.above
    return tree.offset + float((np.array(tree.slopes) * (row - np.array(tree.center))).sum())


def _nearest_legal(parameter: Parameter, number: float) -> float:
    """The nearest legal value; of two as near the smaller."""
    return min(parameter.legal, key=lambda value: (abs(value - number), value))


def _distance(parameters: Sequence[Parameter], wanted: Sequence[float], number: int) -> tuple[int, int]:
    """In how many parameters a version differs from a vector, and by how many legal values in all."""
    steps = [
        abs(parameter.legal.index(parameter.values[number]) - parameter.legal.index(value))
        for parameter, value in zip(parameters, wanted, strict=True)
    ]
    return sum(1 for step in steps if step), sum(steps)
