"""The choice of a version for a launch: its features, and the version that a tree chooses by them.

The features that a model learns from come from the same functions.

    numbers of a launch ─▶ steps ─▶ features ─▶ tree ─▶ version
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from coarsen.dispatch.features import Feature, KernelArgument, feature_steps, input_kinds, needed_kinds
from coarsen.dispatch.steps import (
    LARGEST,
    SMALLEST,
    Constant,
    Kind,
    Named,
    Operation,
    Result,
    Steps,
    binary_logarithm,
)
from coarsen.dispatch.tree import features_of
from coarsen.dispatch.tuned_file import TunedFile

Number = int | float


def _of_quotient(function: Callable[[int, int], int]) -> Callable[[int, int], int | None]:
    return lambda first, second: None if first < 0 or second <= 0 else function(first, second)


# What each operation comes to; None where it has no value.
_OPERATIONS: Mapping[Operation, Callable[..., Number | None]] = MappingProxyType(
    {
        Operation.ADD: operator.add,
        Operation.SUBTRACT: operator.sub,
        Operation.MULTIPLY: operator.mul,
        Operation.QUOTIENT: _of_quotient(operator.floordiv),
        Operation.REMAINDER: _of_quotient(operator.mod),
        Operation.DIVIDE: lambda first, second: None if second == 0.0 else first / second,
        Operation.NEGATE: operator.neg,
        Operation.SMALLER: lambda first, second: first if first <= second else second,
        Operation.LARGER: lambda first, second: first if first >= second else second,
        Operation.REAL: float,
        Operation.LOGARITHM: lambda value: binary_logarithm(value) if 0.0 < value < math.inf else None,
    }
)


def numbers_function(inputs: Mapping[str, Kind], formulas: Sequence[Steps]) -> Callable[..., Any]:
    """Return a function of numbers, given by position, that returns what formulas come to.

    Args:
        inputs: the names of the numbers, in their order, each with its kind.
        formulas: over these names.

    Returns:
        A function that returns the results in a tuple; None where one has no value.
    """

    def numbers(*given: Number) -> tuple[Number, ...] | None:
        named = dict(zip(inputs, given, strict=True))
        if not all(_has_64_bits(named[name]) for name, kind in inputs.items() if kind is Kind.WHOLE):
            return None
        results: list[Number] = []
        for formula in formulas:
            value = _value(formula, named)
            if value is None:
                return None
            results.append(value)
        return tuple(results)

    return numbers


def _value(formula: Steps, named: Mapping[str, Number]) -> Number | None:
    """Return what a formula comes to; None where it has no value."""
    done: list[Number] = []

    def operand(entry: Constant | Named | Result) -> Number:
        if isinstance(entry, Result):
            return done[entry.step]
        return named[entry.name] if isinstance(entry, Named) else entry.value

    for step in formula.steps:
        value = _OPERATIONS[step.operation](*map(operand, step.operands))
        if value is None or (step.kind is Kind.WHOLE and not _has_64_bits(value)):
            return None
        done.append(value)
    found = operand(formula.result)
    return found if formula.kind is Kind.WHOLE or math.isfinite(found) else None


def _has_64_bits(value: Number) -> bool:
    return SMALLEST <= value <= LARGEST


@dataclass(frozen=True, slots=True)
class FeatureValues:
    """Computes features from the numbers of a launch.

    `inputs` are the names of the numbers that it takes, in their order; `names` are the features', in the order of
    the results.
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


def feature_values(features: Sequence[Feature], arguments: Iterable[KernelArgument]) -> FeatureValues:
    """Return what computes features of a kernel's launches; raises InvalidInputError for names unknown to it."""
    kinds = input_kinds(arguments)
    formulas = [feature_steps(feature, kinds) for feature in features]
    inputs = needed_kinds(features, kinds)
    return FeatureValues(
        tuple(inputs), tuple(feature.name for feature in features), numbers_function(inputs, formulas)
    )


def asked_values(file: TunedFile) -> FeatureValues:
    """Return what computes the features that a file's tree asks for."""
    asked = features_of(file.tree)
    return feature_values([each for each in file.features if each.name in asked], file.arguments)
