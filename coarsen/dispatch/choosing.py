"""The choice of a version for a launch: its features, and the version that a tree chooses by them.

Functions are written as Python from checked steps and trees, and compiled once; no name of a file gets into their
text. The features that a model learns from come from the same functions.

def features(i0, i1):
    if i0 > 9223372036854775807 or i0 < -9223372036854775808: return None
    …
    t0 = i0 * 1.0
    t1 = i1 * 1.0
    if t1 == 0.0: return None
    t2 = t0 / t1
    …
    return (t2,)
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from coarsen.dispatch.features import Feature, KernelArgument, feature_steps, input_kinds
from coarsen.dispatch.steps import (
    LARGEST,
    SMALLEST,
    Kind,
    Named,
    Operation,
    Step,
    Steps,
    binary_logarithm,
    written,
)
from coarsen.dispatch.tree import Leaf, Tree, features_of
from coarsen.dispatch.tuned_file import TunedFile

_LARGEST_DOUBLE = repr(sys.float_info.max)
_SIGNS: Mapping[Operation, str] = MappingProxyType(
    {
        Operation.ADD: "+",
        Operation.SUBTRACT: "-",
        Operation.MULTIPLY: "*",
        Operation.QUOTIENT: "//",
        Operation.REMAINDER: "%",
        Operation.DIVIDE: "/",
    }
)
_MAY_OVERFLOW = (Operation.ADD, Operation.SUBTRACT, Operation.MULTIPLY, Operation.NEGATE)


def numbers_function(inputs: Mapping[str, Kind], formulas: Sequence[Steps]) -> Callable[..., Any]:
    """Return a function of numbers, given by position, that returns what formulas come to.

    Args:
        inputs: the names of the numbers, in their order, each with its kind.
        formulas: over these names.

    Returns:
        A function that returns the results in a tuple; None where one has no value.
    """
    places = {name: f"i{index}" for index, name in enumerate(inputs)}
    lines, results = written(
        formulas,
        lambda operand: places[operand.name] if isinstance(operand, Named) else f"({operand.value!r})",
        _step,
        lambda result: [f"if not -{_LARGEST_DOUBLE} <= {result} <= {_LARGEST_DOUBLE}: return None"],
    )
    checks = [_unless_64_bits(places[name]) for name, kind in inputs.items() if kind is Kind.WHOLE]
    body = (f"    {line}" for line in (*checks, *lines, f"return ({''.join(f'{each}, ' for each in results)})"))
    return _compiled([f"def made({', '.join(places.values())}):", *body])


def tree_function(tree: Tree, features: Sequence[str]) -> Callable[..., int]:
    """Return a function of features' values, given by position, that returns the version that a tree chooses."""
    places = {name: f"f{index}" for index, name in enumerate(features)}
    lines = [f"def made({', '.join(places.values())}):", *_tree_lines(tree, places, "    ")]
    function: Callable[..., int] = _compiled(lines)
    return function


def _compiled(lines: Sequence[str]) -> Callable[..., Any]:
    # The text has numbers, signs and names made here; without builtins it could do nothing else.
    names: dict[str, Any] = {"__builtins__": {}, "logarithm": binary_logarithm}
    exec(compile("\n".join(lines), "<tuned file>", "exec"), names)
    made: Callable[..., Any] = names["made"]
    return made


def _step(step: Step, target: str, operands: Sequence[str]) -> Iterator[str]:
    operation = step.operation
    if operation in (Operation.QUOTIENT, Operation.REMAINDER):
        yield f"if {operands[0]} < 0 or {operands[1]} <= 0: return None"
    elif operation is Operation.DIVIDE:
        yield f"if {operands[1]} == 0.0: return None"
    elif operation is Operation.LOGARITHM:
        yield f"if not 0.0 < {operands[0]} <= {_LARGEST_DOUBLE}: return None"
    yield f"{target} = {_value(operation, operands)}"
    if step.kind is Kind.WHOLE and operation in _MAY_OVERFLOW:
        yield _unless_64_bits(target)


def _value(operation: Operation, operands: Sequence[str]) -> str:
    first = operands[0]
    if operation in _SIGNS:
        return f"{first} {_SIGNS[operation]} {operands[1]}"
    if operation is Operation.NEGATE:
        return f"-{first}"
    if operation is Operation.REAL:
        # Rounded to the nearest double, as a conversion is.
        return f"{first} * 1.0"
    if operation is Operation.LOGARITHM:
        return f"logarithm({first})"
    sign = "<=" if operation is Operation.SMALLER else ">="
    return f"{first} if {first} {sign} {operands[1]} else {operands[1]}"


def _unless_64_bits(place: str) -> str:
    return f"if {place} > {LARGEST} or {place} < {SMALLEST}: return None"


def _tree_lines(tree: Tree, places: Mapping[str, str], indent: str) -> Iterator[str]:
    if isinstance(tree, Leaf):
        yield f"{indent}return {tree.version}"
        return
    yield f"{indent}if {places[tree.feature]} <= {tree.threshold!r}:"
    yield from _tree_lines(tree.at_most, places, f"{indent} ")
    yield from _tree_lines(tree.above, places, indent)


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
