"""The choice of a version for a launch: its features, and the version that a tree chooses by them.

Functions are written from the checked content of a tuned file and compiled once. The features that a model learns
from come from the same functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from coarsen.dispatch.features import Feature, KernelArgument, feature_steps, input_kinds
from coarsen.dispatch.python_text import numbers_function, tree_function
from coarsen.dispatch.steps import Kind, Named, Steps
from coarsen.dispatch.tree import Tree, features_of
from coarsen.dispatch.tuned_file import TunedFile

Number = int | float


@dataclass(frozen=True, slots=True)
class FeatureValues:
    """Computes features from the numbers of a launch.

    `inputs` are the names of the numbers that it takes, in their order: those that formulas need, then those of
    supplied features. `names` are the features', in the order of the results.
    """

    inputs: tuple[str, ...]
    names: tuple[str, ...]
    # Returns the features' values; None where one of them has none.
    compute: Callable[..., tuple[float, ...] | None]

    def of(self, numbers: Mapping[str, Number]) -> dict[str, float] | None:
        """Return the features by name; None where one has no value.

        Args:
            numbers: whole numbers as `int`, real ones as `float`, by the names in `inputs`.

        Raises:
            KeyError: a number is missing.
        """
        values = self.compute(*(numbers[name] for name in self.inputs))
        return None if values is None else dict(zip(self.names, values, strict=True))


@dataclass(frozen=True, slots=True)
class Chooser:
    """Chooses among the versions of a tuned file; `tree` is of the features' values, by position."""

    features: FeatureValues
    tree: Callable[..., int]

    def version(self, numbers: Sequence[Number]) -> int | None:
        """Return the version for the numbers that `features.inputs` names; None where a feature has no value."""
        values = self.features.compute(*numbers)
        return None if values is None else self.tree(*values)


def feature_values(features: Sequence[Feature], arguments: Iterable[KernelArgument]) -> FeatureValues:
    """Return what computes features of a kernel's launches; raises InvalidInputError for names unknown to it."""
    kinds = input_kinds(arguments)
    formulas: list[Steps] = []
    needed: set[str] = set()
    supplied: dict[str, Kind] = {}
    for feature in features:
        formula, steps = feature.formula(), feature_steps(feature, kinds)
        if formula is None or steps is None:
            supplied[feature.name] = Kind.REAL
            steps = Steps((), Named(feature.name), Kind.REAL)
        else:
            needed |= formula.names
        formulas.append(steps)
    inputs = {name: kind for name, kind in kinds.items() if name in needed} | supplied
    return FeatureValues(
        tuple(inputs),
        tuple(feature.name for feature in features),
        numbers_function(inputs, formulas),
    )


def chooser(file: TunedFile, tree: Tree) -> Chooser:
    """Return what chooses among a file's versions by one of its trees."""
    asked = features_of(tree)
    features = [feature for feature in file.features if feature.name in asked]
    return Chooser(feature_values(features, file.arguments), tree_function(tree, [f.name for f in features]))
