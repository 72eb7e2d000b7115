"""A formula as single operations on numbers of known kinds, from which C and values are made alike.

    log2(height / width)        real(height), real(width), divide, log2

Whole numbers have 64 bits and a sign; what goes beyond has no value. `//` and `%` have values of non-negative
numbers and a positive divisor alone. Real numbers are IEEE doubles, each operation rounded once; a division by
zero, or the logarithm of what isn't positive and finite, has no value, and neither has a formula whose result
isn't finite.
"""

from __future__ import annotations

import ast
import enum
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

from coarsen.dispatch.expressions import LOGARITHM, Expression, function_of
from coarsen.errors import InvalidInputError

SMALLEST, LARGEST = -(2**63), 2**63 - 1
# 2 / ((2k + 1) ln 2) for k from 0, each rounded to the nearest double.
COEFFICIENTS = (
    *(2.8853900817779268, 0.9617966939259756, 0.5770780163555853, 0.4121985831111324, 0.3205988979753252),
    *(0.2623081892525388, 0.22195308321368667, 0.19235933878519512, 0.16972882833987804, 0.15186263588304877),
    0.1373995277037108,
)
SQUARE_ROOT_OF_HALF = 0.7071067811865476
_FIRST_COEFFICIENT, *_OTHER_COEFFICIENTS = reversed(COEFFICIENTS)


class Kind(enum.StrEnum):
    """The kind of a number: whole, of 64 bits, or a double."""

    WHOLE = "whole"
    REAL = "real"


class Operation(enum.StrEnum):
    """The operation of a step on its operands, which are of one kind; REAL makes a double of a whole number."""

    ADD = "add"
    SUBTRACT = "subtract"
    MULTIPLY = "multiply"
    QUOTIENT = "quotient"
    REMAINDER = "remainder"
    DIVIDE = "divide"
    NEGATE = "negate"
    SMALLER = "smaller"
    LARGER = "larger"
    REAL = "real"
    LOGARITHM = "logarithm"


@dataclass(frozen=True, slots=True)
class Constant:
    """A number that stands in a formula, or for a macro in it."""

    value: int | float


@dataclass(frozen=True, slots=True)
class Named:
    """A number that a formula is given, by its name."""

    name: str


@dataclass(frozen=True, slots=True)
class Result:
    """The result of an earlier step, by the step's number from 0."""

    step: int


Operand: TypeAlias = Constant | Named | Result


@dataclass(frozen=True, slots=True)
class Step:
    """One operation; `kind` is that of its result."""

    operation: Operation
    kind: Kind
    operands: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps of a formula, in their order, and the kind of the result."""

    steps: tuple[Step, ...]
    result: Operand
    kind: Kind


_OF_EITHER: Mapping[type[ast.operator], Operation] = MappingProxyType(
    {ast.Add: Operation.ADD, ast.Sub: Operation.SUBTRACT, ast.Mult: Operation.MULTIPLY}
)
_OF_WHOLE: Mapping[type[ast.operator], Operation] = MappingProxyType(
    {ast.FloorDiv: Operation.QUOTIENT, ast.Mod: Operation.REMAINDER}
)
_EXTREMES: Mapping[str, Operation] = MappingProxyType({"min": Operation.SMALLER, "max": Operation.LARGER})


def steps_of(formula: Expression, kinds: Mapping[str, Kind]) -> Steps:
    """Return the steps of a formula, to a double.

    Args:
        formula: one that was checked.
        kinds: of the names that it may have.

    Raises:
        InvalidInputError: a name that isn't known; `//` or `%` of what isn't whole; a whole number beyond 64 bits.
    """
    writer = _Writer(formula.text, kinds, {})
    result = writer.real(*writer.operand(formula.tree))
    return Steps(tuple(writer.steps), result, Kind.REAL)


def whole_steps_of(expression: Expression, names: Collection[str], constants: Mapping[str, int]) -> Steps:
    """Return the steps of an expression, to a whole number.

    Args:
        expression: one that was checked.
        names: of the whole numbers that it is given.
        constants: macros and the like, by name; they hide numbers of the same name.

    Raises:
        InvalidInputError: a name that isn't known; a whole number beyond 64 bits.
    """
    writer = _Writer(expression.text, dict.fromkeys(names, Kind.WHOLE), constants)
    result, kind = writer.operand(expression.tree)
    return Steps(tuple(writer.steps), result, kind)


class _Writer:
    def __init__(self, text: str, kinds: Mapping[str, Kind], constants: Mapping[str, int]) -> None:
        self.steps: list[Step] = []
        self._text = text
        self._kinds = kinds
        self._constants = constants

    def operand(self, tree: ast.expr) -> tuple[Operand, Kind]:
        if isinstance(tree, ast.Name):
            if tree.id in self._constants:
                return self._constant(self._constants[tree.id])
            if tree.id not in self._kinds:
                raise InvalidInputError(f"'{self._text}' has the unknown name '{tree.id}'")
            return Named(tree.id), self._kinds[tree.id]
        if isinstance(tree, ast.UnaryOp):
            value, kind = self.operand(tree.operand)
            return self._step(Operation.NEGATE, kind, value), kind
        if isinstance(tree, ast.BinOp):
            return self._of_two(tree)
        if isinstance(tree, ast.Call):
            return self._call(tree)
        return self._constant(ast.literal_eval(tree))

    def real(self, value: Operand, kind: Kind) -> Operand:
        """Return an operand as a double."""
        if kind is Kind.REAL:
            return value
        return self._step(Operation.REAL, Kind.REAL, value)

    def _constant(self, value: int | float) -> tuple[Operand, Kind]:
        if isinstance(value, float):
            return Constant(value), Kind.REAL
        if not SMALLEST <= value <= LARGEST:
            raise InvalidInputError(f"'{self._text}' has a whole number beyond 64 bits")
        return Constant(value), Kind.WHOLE

    def _of_two(self, tree: ast.BinOp) -> tuple[Operand, Kind]:
        left, right = self.operand(tree.left), self.operand(tree.right)
        operator = type(tree.op)
        if operator in _OF_WHOLE:
            if Kind.REAL in (left[1], right[1]):
                raise InvalidInputError(f"'{self._text}' has // or % of a number that isn't whole")
            return self._step(_OF_WHOLE[operator], Kind.WHOLE, left[0], right[0]), Kind.WHOLE
        if operator is ast.Div:
            return self._step(Operation.DIVIDE, Kind.REAL, self.real(*left), self.real(*right)), Kind.REAL
        return self._alike(_OF_EITHER[operator], left, right)

    def _call(self, tree: ast.Call) -> tuple[Operand, Kind]:
        name = function_of(tree)
        first, *others = (self.operand(argument) for argument in tree.args)
        if name == LOGARITHM:
            return self._step(Operation.LOGARITHM, Kind.REAL, self.real(*first)), Kind.REAL
        for other in others:
            first = self._alike(_EXTREMES[name], first, other)
        return first

    def _alike(
        self, operation: Operation, left: tuple[Operand, Kind], right: tuple[Operand, Kind]
    ) -> tuple[Operand, Kind]:
        """A step whose operands are whole numbers, or doubles where one of them is."""
        if left[1] is right[1]:
            return self._step(operation, left[1], left[0], right[0]), left[1]
        return self._step(operation, Kind.REAL, self.real(*left), self.real(*right)), Kind.REAL

    def _step(self, operation: Operation, kind: Kind, *operands: Operand) -> Operand:
        self.steps.append(Step(operation, kind, operands))
        return Result(len(self.steps) - 1)


def binary_logarithm(value: float) -> float:
    """Return the logarithm to the base 2 of a positive finite number."""
    mantissa, exponent = math.frexp(value)
    if mantissa < SQUARE_ROOT_OF_HALF:
        mantissa += mantissa
        exponent -= 1
    ratio = (mantissa - 1.0) / (mantissa + 1.0)
    square = ratio * ratio
    total = _FIRST_COEFFICIENT
    for coefficient in _OTHER_COEFFICIENTS:
        total = total * square + coefficient
    return exponent + ratio * total
