"""Distributions that fill buffers: `uniform(-1, 1)`, `integers(0, n)`, `mixed(100, zeros, uniform(1, 2))`.

    values = { x = "uniform(-1, 1)", id = "arange" }     of each field of a structure

Parameters are numbers, or expressions of the sizes; shares are whole numbers, per mille.
"""

from __future__ import annotations

import ast
import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.random import Generator

from coarsen.base.names import did_you_mean
from coarsen.dispatch.expressions import Expression, checked_expression, function_of, parsed
from coarsen.errors import InternalError, InvalidInputError
from coarsen.opencl_bench.workloads.described.table import Table
from coarsen.tuning.workload.benchmark import Array
from coarsen.tuning.workload.driver_tools import unwritten, unwritten_records
from coarsen.tuning.workload.element_types import ElementType, Structure, StructureField, element_type

Number = int | float

# Whole numbers of an interval.
_WHOLE = ("integers", "sorted")
# Whole numbers of 32 bits at least.
_SHAPED = ("ranges", "near")
_PER_MILLE = 1000
# What all fields of a structure can be filled with alike.
OF_ALL = ("zeros", "unwritten")


class Filling:
    """What fills a buffer; `text` is how the description says it."""

    __slots__ = ()
    text: str

    @property
    def content(self) -> str:
        """Return what tells it from other values."""
        return self.text

    @property
    def names(self) -> frozenset[str]:
        """The names that its parameters need."""
        return frozenset()

    def check(self, values: Mapping[str, int], kind: ElementType, elements: int) -> None:
        """Raise InvalidInputError where so many elements of a type can't be filled so."""

    def fill(self, generator: Generator, kind: ElementType, elements: int, values: Mapping[str, int]) -> Array:
        """Return an array of so many elements. Raises InvalidInputError as `check` does."""
        raise InternalError(f"'{self.text}' is made with others")


@dataclass(frozen=True, slots=True)
class Distribution(Filling):
    """A way to fill a buffer; `parameters` are numbers, or expressions of whole numbers."""

    text: str
    name: str
    parameters: tuple[Expression | float, ...]

    @property
    def names(self) -> frozenset[str]:
        """The names that its parameters need."""
        return frozenset().union(*(entry.names for entry in self.parameters if isinstance(entry, Expression)))

    def check(self, values: Mapping[str, int], kind: ElementType, elements: int) -> None:
        """Raise InvalidInputError where the type can't hold the numbers, or counting up to so many elements."""
        self._check(self._numbers(values), kind)
        largest = _total(kind, elements) - 1
        if self.name in ("arange", "permutation") and not kind.can_hold(largest):
            raise InvalidInputError(f"'{self.text}' counts to {largest}, which is beyond what {kind.name} holds")

    def fill(self, generator: Generator, kind: ElementType, elements: int, values: Mapping[str, int]) -> Array:
        """An array of so many elements. Raises InvalidInputError as `check` does."""
        self.check(values, kind, elements)
        with np.errstate(over="ignore"):  # it is said below
            made = _MAKERS[self.name](generator, kind, elements, *self._numbers(values))
            filled = made.astype(kind.scalar, copy=False)
        if self.name in ("uniform", "normal") and not np.isfinite(filled).all():
            raise self._beyond(kind)
        return filled.reshape(kind.shape(elements))

    def _numbers(self, values: Mapping[str, int]) -> tuple[Number, ...]:
        return tuple(each.evaluate(values) if isinstance(each, Expression) else each for each in self.parameters)

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


@dataclass(frozen=True, slots=True)
class Mixed(Filling):
    """Elements of a first distribution, so many of a thousand, in random places among those of a second."""

    text: str
    per_mille: Expression
    first: Distribution
    second: Distribution

    @property
    def names(self) -> frozenset[str]:
        """The names that its parameters need."""
        return self.per_mille.names | self.first.names | self.second.names

    def check(self, values: Mapping[str, int], kind: ElementType, elements: int) -> None:
        """Raise InvalidInputError for a share that is none, and as the distributions do."""
        share = self.per_mille.evaluate(values)
        if not 0 <= share <= _PER_MILLE:
            raise InvalidInputError(f"'{self.text}' has a share of {share} per mille; it is from 0 to 1000")
        for each in (self.first, self.second):
            each.check(values, kind, elements)

    def fill(self, generator: Generator, kind: ElementType, elements: int, values: Mapping[str, int]) -> Array:
        """Return an array of so many elements. Raises InvalidInputError as `check` does."""
        self.check(values, kind, elements)
        first, second = (each.fill(generator, kind, elements, values) for each in (self.first, self.second))
        share = self.per_mille.evaluate(values)
        return np.where(generator.integers(_PER_MILLE, size=first.shape) < share, first, second)


def parse_distribution(text: str) -> Distribution | Mixed:
    """Read a distribution. Raises InvalidInputError; the message lists what there is."""
    tree = parsed(text)
    if isinstance(tree, ast.Call) and function_of(tree) == "mixed":
        return _mixed(tree, text)
    return _distribution(tree, text)


def _mixed(tree: ast.Call, text: str) -> Mixed:
    if len(tree.args) != 3:
        raise InvalidInputError(f"'{text}' must have the form {_MIXED_FORM}")
    share, *both = tree.args
    first, second = (_distribution(each, ast.unparse(each)) for each in both)
    return Mixed(text, checked_expression(share, text), first, second)


def _distribution(tree: ast.expr, text: str) -> Distribution:
    called, arguments = (tree.func, tree.args) if isinstance(tree, ast.Call) and not tree.keywords else (tree, [])
    if not isinstance(called, ast.Name) or called.id not in _MAKERS:
        hint = did_you_mean(text.partition("(")[0], [*_MAKERS, "mixed"])
        raise InvalidInputError(f"'{text}' is no distribution{hint}; there are {', '.join(_FORMS)}")
    name = called.id
    if len(arguments) != len(_parameters(name)):
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


def _uniform(generator: Generator, kind: ElementType, elements: int, low: Number, high: Number) -> Array:
    drawn: Array = generator.random(
        _total(kind, elements), np.float32 if kind.scalar != np.float64 else np.float64
    )
    return np.asarray(drawn * drawn.dtype.type(high - low) + drawn.dtype.type(low))


def _integers(generator: Generator, kind: ElementType, elements: int, low: Number, high: Number) -> Array:
    drawn_as = kind.scalar if kind.is_integer else np.int64
    return np.asarray(generator.integers(int(low), int(high), _total(kind, elements), dtype=drawn_as))


def _sorted(generator: Generator, kind: ElementType, elements: int, low: Number, high: Number) -> Array:
    return np.sort(_integers(generator, kind, elements, low, high))


def _normal(generator: Generator, kind: ElementType, elements: int, mean: Number, deviation: Number) -> Array:
    return np.asarray(generator.standard_normal(_total(kind, elements)) * deviation + mean)


def _first(_: Generator, kind: ElementType, elements: int, value: Number, others: Number) -> Array:
    filled = np.full(_total(kind, elements), others, kind.scalar)
    filled[0] = value
    return filled


def _ranges(generator: Generator, kind: ElementType, elements: int, longest: int) -> Array:
    lengths = generator.integers(0, longest, elements - 1, dtype=kind.scalar, endpoint=True)
    return np.concatenate([np.zeros(1, kind.scalar), np.cumsum(lengths, dtype=kind.scalar)])


def _near(generator: Generator, _: ElementType, elements: int, table: int, reach: int) -> Array:
    own = np.arange(elements, dtype=np.int64) * table // elements
    near = own + generator.integers(-reach, reach + 1, elements, dtype=np.int32)
    return np.asarray(np.clip(near, 0, table - 1))


# By their names; what follows the generator, the type and the number of elements are their parameters.
_MAKERS: Mapping[str, Callable[..., Array]] = MappingProxyType(
    {
        "uniform": _uniform,
        "integers": _integers,
        "sorted": _sorted,
        "normal": _normal,
        "constant": lambda _, kind, count, value: np.full(_total(kind, count), value, kind.scalar),
        "first": _first,
        "zeros": lambda _, kind, count: np.zeros(_total(kind, count), kind.scalar),
        "arange": lambda _, kind, count: np.arange(_total(kind, count)),
        "permutation": lambda generator, kind, count: generator.permutation(_total(kind, count)),
        "unwritten": lambda _, kind, count: unwritten(_total(kind, count), kind.scalar),
        "ranges": _ranges,
        "near": _near,
    }
)


def _parameters(name: str) -> list[str]:
    return [*inspect.signature(_MAKERS[name]).parameters][3:]


def _form(name: str) -> str:
    parameters = ", ".join(_parameters(name))
    return f"{name}({parameters})" if parameters else name


_MIXED_FORM = "mixed(per_mille, DISTRIBUTION, DISTRIBUTION)"
_FORMS = (*(_form(name) for name in _MAKERS), _MIXED_FORM)


@dataclass(frozen=True, slots=True)
class RecordValues(Filling):
    """The distribution of each field of a structure, in their order.

    What lies between the fields is filled with a fixed pattern, so that a kernel which reads it shows.
    """

    text: str
    fields: tuple[tuple[StructureField, Distribution | Mixed], ...]

    @property
    def names(self) -> frozenset[str]:
        """The names that the distributions need."""
        return frozenset().union(*(values.names for _, values in self.fields))

    def check(self, values: Mapping[str, int], _kind: ElementType, elements: int) -> None:
        """Raise InvalidInputError, with the field, as the distributions do."""
        for field, distribution in self.fields:
            try:
                distribution.check(values, field.type, elements * (field.count or 1))
            except InvalidInputError as error:
                raise InvalidInputError(f"{field.name}: {error}") from None

    def fill(self, generator: Generator, kind: ElementType, elements: int, values: Mapping[str, int]) -> Array:
        """Return an array of so many structures. Raises InvalidInputError as `check` does."""
        if kind.structure is None:
            raise InternalError(f"{kind.name} has no fields")
        made = unwritten_records(kind.structure.dtype, elements)
        for field, distribution in self.fields:
            count = elements * (field.count or 1)
            drawn = distribution.fill(generator, field.type, count, values).reshape(count, -1)
            made[field.name] = drawn[:, : field.type.components].reshape(elements, *field.shape)
        return made


def alike(structure: Structure, name: str) -> RecordValues:
    """Return the contents where all fields are filled alike; `name` is one of `OF_ALL`."""
    return _records((field, parse_distribution(name)) for field in structure.fields)


def read_record_values(values: Table, structure: Structure) -> RecordValues:
    """Return the contents that a table of fields says.

    Args:
        values: the distribution of every field.
        structure: whose fields they are.

    Raises:
        InvalidInputError: a field that isn't there, or without values; no such distribution.
    """
    known = {field.name: field for field in structure.fields}
    for name in values.values:
        if name not in known:
            hint = did_you_mean(name, known)
            raise values.error(name, f"{structure.name} has no such field{hint}; there are {', '.join(known)}")
    for name in known:
        if not values.has(name):
            raise values.error(name, f"it is missing; {structure.name} has this field")
    return _records((field, values.parse(name, parse_distribution)) for name, field in known.items())


def _records(fields: Iterable[tuple[StructureField, Distribution | Mixed]]) -> RecordValues:
    given = tuple(fields)
    return RecordValues(", ".join(f"{field.name} = {values.text}" for field, values in given), given)
