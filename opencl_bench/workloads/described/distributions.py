"""Distributions that fill buffers: `uniform(-1, 1)`, `integers(0, n)`, `sorted(0, n)`, `arange`, …"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from coarsen.dispatch.expressions import Expression, checked_expression, parsed
from coarsen.errors import InvalidInputError
from coarsen.near_names import did_you_mean
from coarsen.opencl_bench.workloads.benchmark import Array
from coarsen.opencl_bench.workloads.described.element_types import ElementType, element_type
from coarsen.opencl_bench.workloads.described.shaped_values import fill_indices, fill_keys, fill_starts
from coarsen.opencl_bench.workloads.driver_tools import unwritten

Number = int | float
# Whole numbers of an interval.
_WHOLE = ("integers", "sorted")
# Whole numbers of 32 bits, which `shaped_values.py` makes.
_SHAPED = ("keys", "starts", "indices")
_Maker = Callable[[np.random.Generator, ElementType, int, tuple[Number, ...]], Array]


@dataclass(frozen=True, slots=True)
class Distribution:
    """A way to fill a buffer; `parameters` are numbers, or expressions of whole numbers."""

    text: str
    name: str
    parameters: tuple[Expression | float, ...]

    @property
    def content(self) -> str:
        """Return what tells it from other values."""
        return self.text

    @property
    def names(self) -> frozenset[str]:
        """The names that its parameters need."""
        return frozenset().union(*(entry.names for entry in self.parameters if isinstance(entry, Expression)))

    def numbers(self, values: Mapping[str, int], kind: ElementType) -> tuple[Number, ...]:
        """Its parameters' values. Raises InvalidInputError where the buffer's type can't hold them."""
        numbers = tuple(
            entry.evaluate(values) if isinstance(entry, Expression) else entry for entry in self.parameters
        )
        self._check(numbers, kind)
        return numbers

    def fill(
        self, generator: np.random.Generator, kind: ElementType, elements: int, values: Mapping[str, int]
    ) -> Array:
        """An array of so many elements. Raises InvalidInputError as `numbers` and `check_count` do."""
        self.check_count(kind, elements)
        maker, _ = _MAKERS[self.name]
        numbers = self.numbers(values, kind)
        with np.errstate(over="ignore"):  # it is said below
            filled = maker(generator, kind, elements, numbers).astype(kind.scalar, copy=False)
        if self.name in ("uniform", "normal") and not np.isfinite(filled).all():
            raise self._beyond(kind)
        return filled.reshape(kind.shape(elements))

    def check_count(self, kind: ElementType, elements: int) -> None:
        """Raise InvalidInputError where counting up to so many elements leaves the type's range."""
        largest = _total(kind, elements) - 1
        if self.name in ("arange", "permutation") and not kind.can_hold(largest):
            raise InvalidInputError(f"'{self.text}' counts to {largest}, which is beyond what {kind.name} holds")

    def _beyond(self, kind: ElementType) -> InvalidInputError:
        return InvalidInputError(f"'{self.text}' goes beyond what {kind.name} holds")

    def _check(self, numbers: tuple[Number, ...], kind: ElementType) -> None:
        if self.name in ("uniform", "normal") and kind.is_integer:
            raise InvalidInputError(
                f"'{self.text}' is for floating-point types; integers(low, high) is for {kind.name}"
            )
        if self.name in _SHAPED and (not kind.is_integer or kind.components > 1 or kind.byte_count < 4):
            raise InvalidInputError(f"'{self.text}' is for int, uint, long and ulong, not for {kind.name}")
        if self.name in ("uniform", *_WHOLE) and not numbers[0] < numbers[1]:
            raise InvalidInputError(f"'{self.text}' has no number between {numbers[0]} and {numbers[1]}")
        if self.name == "normal" and numbers[1] < 0:
            raise InvalidInputError(f"'{self.text}' has a deviation below 0")
        is_whole = self.name in _WHOLE
        largest = (numbers[0], numbers[1] - 1) if is_whole else numbers
        types = [kind, *([element_type("long")] if is_whole and not kind.is_integer else [])]
        if not all(each.can_hold(number) for number in largest for each in types):
            raise self._beyond(kind)
        if self.name == "uniform" and not kind.can_hold(math.ceil(numbers[1]) - math.floor(numbers[0])):
            raise self._beyond(kind)


def parse_distribution(text: str) -> Distribution:
    """Read a distribution. Raises InvalidInputError; the message lists what there is."""
    tree = parsed(text)
    called, arguments = (tree.func, tree.args) if isinstance(tree, ast.Call) and not tree.keywords else (tree, [])
    if not isinstance(called, ast.Name) or called.id not in _MAKERS:
        hint = did_you_mean(text.partition("(")[0], _MAKERS)
        raise InvalidInputError(f"'{text}' is no distribution{hint}; there are {', '.join(_FORMS)}")
    name = called.id
    _, expected = _MAKERS[name]
    if len(arguments) != len(expected):
        raise InvalidInputError(f"'{text}' must have the form {_form(name)}")
    return Distribution(text, name, tuple(_parameter(argument, text, name) for argument in arguments))


def _parameter(tree: ast.expr, text: str, name: str) -> Expression | float:
    negative = isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub)
    literal = tree.operand if isinstance(tree, ast.UnaryOp) and negative else tree
    if isinstance(literal, ast.Constant) and isinstance(literal.value, float):
        is_whole = name in (*_WHOLE, *_SHAPED)
        if is_whole or not math.isfinite(literal.value):
            raise InvalidInputError(f"'{text}' needs {'whole' if is_whole else 'finite'} numbers")
        return -literal.value if negative else literal.value
    return checked_expression(tree, text)


def _total(kind: ElementType, elements: int) -> int:
    return math.prod(kind.shape(elements))


def _uniform(
    generator: np.random.Generator, kind: ElementType, elements: int, numbers: tuple[Number, ...]
) -> Array:
    low, high = numbers
    drawn: Array = generator.random(
        _total(kind, elements), np.float32 if kind.scalar != np.float64 else np.float64
    )
    return np.asarray(drawn * drawn.dtype.type(high - low) + drawn.dtype.type(low))


def _integers(
    generator: np.random.Generator, kind: ElementType, elements: int, numbers: tuple[Number, ...]
) -> Array:
    low, high = (int(number) for number in numbers)
    drawn_as = kind.scalar if kind.is_integer else np.int64
    return np.asarray(generator.integers(low, high, _total(kind, elements), dtype=drawn_as))


def _sorted(
    generator: np.random.Generator, kind: ElementType, elements: int, numbers: tuple[Number, ...]
) -> Array:
    return np.sort(_integers(generator, kind, elements, numbers))


def _normal(
    generator: np.random.Generator, kind: ElementType, elements: int, numbers: tuple[Number, ...]
) -> Array:
    mean, deviation = numbers
    return generator.standard_normal(_total(kind, elements)) * deviation + mean


def _permutation(generator: np.random.Generator, kind: ElementType, elements: int, _: tuple[Number, ...]) -> Array:
    return generator.permutation(_total(kind, elements))


def _arange(_generator: np.random.Generator, kind: ElementType, elements: int, _: tuple[Number, ...]) -> Array:
    return np.arange(_total(kind, elements))


def _constant(
    _generator: np.random.Generator, kind: ElementType, elements: int, numbers: tuple[Number, ...]
) -> Array:
    return np.full(_total(kind, elements), numbers[0], kind.scalar)


def _zeros(_generator: np.random.Generator, kind: ElementType, elements: int, _: tuple[Number, ...]) -> Array:
    return np.zeros(_total(kind, elements), kind.scalar)


def _unwritten(_generator: np.random.Generator, kind: ElementType, elements: int, _: tuple[Number, ...]) -> Array:
    return unwritten(_total(kind, elements), kind.scalar)


_MAKERS: Mapping[str, tuple[_Maker, tuple[str, ...]]] = MappingProxyType(
    {
        "uniform": (_uniform, ("low", "high")),
        "integers": (_integers, ("low", "high")),
        "sorted": (_sorted, ("low", "high")),
        "normal": (_normal, ("mean", "deviation")),
        "constant": (_constant, ("value",)),
        "zeros": (_zeros, ()),
        "arange": (_arange, ()),
        "permutation": (_permutation, ()),
        "unwritten": (_unwritten, ()),
        "keys": (fill_keys, ("kind", "bins", "per_mille")),
        "starts": (fill_starts, ("kind", "total", "per_mille")),
        "indices": (fill_indices, ("table", "reach_per_mille")),
    }
)


def _form(name: str) -> str:
    parameters = ", ".join(_MAKERS[name][1])
    return f"{name}({parameters})" if parameters else name


_FORMS = tuple(_form(name) for name in _MAKERS)
