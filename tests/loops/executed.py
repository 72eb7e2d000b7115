"""The instances of a C function's statements and the elements that they access, by going through its loops."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import islpy as isl

from coarsen.errors import SourcePosition
from coarsen.loops.dependences import Dependence
from coarsen.loops.nest import Nest
from coarsen.loops.tree import (
    Assignment,
    CFunction,
    Declare,
    Evaluate,
    Expression,
    For,
    If,
    Name,
    Number,
    Operation,
    Statement,
    Subscript,
    inside,
    parts_of,
)

Element = tuple[str, tuple[int, ...]]


@dataclass(frozen=True)
class Executed:
    """An instance: where its statement stands, the values of the iterators around it, what it reads and writes."""

    place: SourcePosition
    iterators: tuple[int, ...]
    reads: frozenset[Element]
    writes: frozenset[Element]


def execute(function: CFunction, sizes: dict[str, int]) -> list[Executed]:
    """Go through the loops of a function whose arrays have their extents in their types."""
    found: list[Executed] = []
    values: dict[str, int] = dict(sizes)
    _block(function.body, values, [], found)
    return found


def _block(
    statements: tuple[Statement, ...], values: dict[str, int], around: list[str], found: list[Executed]
) -> None:
    for each in statements:
        match each:
            case For(
                first=Declare(variable=variable, value=value), condition=condition, step=Assignment() as step
            ):
                assert value is not None and condition is not None
                values[variable.name] = _value(value, values)
                while _value(condition, values):
                    _block(each.body, values, [*around, variable.name], found)
                    change = _value(step.value, values)
                    values[variable.name] += change if step.operator == "+" else -change
            case If(condition=condition, then=then, otherwise=otherwise):
                _block(then if _value(condition, values) else otherwise, values, around, found)
            case Declare(variable=variable, value=value) if value is not None:
                if variable.is_whole:
                    values[variable.name] = _value(value, values)
                else:
                    reads = frozenset(_elements(value, values))
                    found.append(_executed(each, values, around, reads, frozenset()))
            case Evaluate(expression=Assignment(target=target, operator=sign, value=value)):
                written = frozenset(_elements(target, values))
                reads = frozenset(_elements(value, values)) | (written if sign else frozenset())
                found.append(_executed(each, values, around, reads, written))


def _executed(
    each: Statement,
    values: dict[str, int],
    around: list[str],
    reads: frozenset[Element],
    writes: frozenset[Element],
) -> Executed:
    return Executed(each.place, tuple(values[name] for name in around), reads, writes)


def _elements(expression: Expression, values: dict[str, int]) -> Iterator[Element]:
    if isinstance(expression, Subscript):
        indices: list[int] = []
        base: Expression = expression
        while isinstance(base, Subscript):
            indices.insert(0, _value(base.index, values))
            base = base.base
        assert isinstance(base, Name)
        yield base.variable.name, tuple(indices)
        return
    for part in parts_of(expression):
        yield from _elements(part, values)


_OPERATORS: dict[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "/": lambda one, two: int(one / two),
    "%": lambda one, two: one - two * int(one / two),
    "&&": lambda one, two: bool(one and two),
    "||": lambda one, two: bool(one or two),
}


def _value(expression: Expression, values: dict[str, int]) -> int:
    match expression:
        case Number(value=int(value)):
            return value
        case Name(variable=variable):
            return values[variable.name]
        case Operation(operator="-", operands=(only,)):
            return -_value(only, values)
        case Operation(operator="!", operands=(only,)):
            return int(not _value(only, values))
        case Operation(operator="?:", operands=(test, left, right)):
            return _value(left if _value(test, values) else right, values)
        case Operation(operator=sign, operands=(left, right)):
            return int(_OPERATORS[sign](_value(left, values), _value(right, values)))
    raise AssertionError(list(inside(expression)))


Pair = tuple[Executed, Executed]


def pairs(found: list[Executed]) -> dict[str, set[Pair]]:
    """Return what depends on what: reads and writes on the last write before them, the next write on reads."""
    result: dict[str, set[Pair]] = {"flow": set(), "anti": set(), "output": set()}
    written: dict[Element, Executed] = {}
    read: dict[Element, list[Executed]] = {}
    for each in found:
        for element in each.reads:
            if element in written:
                result["flow"].add((written[element], each))
            read.setdefault(element, []).append(each)
        for element in each.writes:
            if element in written:
                result["output"].add((written[element], each))
            earlier = read.get(element, [])
            result["anti"] |= {(one, each) for one in earlier if one is not each}
            read[element] = [one for one in earlier if one is each]
            written[element] = each
    return result


def assert_as_executed(
    executed: list[Executed], nest: Nest, found: tuple[Dependence, ...], sizes: dict[str, int]
) -> None:
    """Fail unless a nest has the instances of the executed statements, and the dependences that these have."""
    at = {each.place: each for each in nest.statements}
    counted = {
        each.name: isl.Set(nest.domain(each)).intersect_params(_fixed(sizes)).count_val().to_python()
        for each in nest.statements
    }
    assert counted == {each.name: sum(one.place == each.place for one in executed) for each in nest.statements}
    expected = {
        (kind, at[one.place].name, one.iterators, at[two.place].name, two.iterators)
        for kind, related in pairs(executed).items()
        for one, two in related
    }
    arrays = {each.name for each in nest.arrays.values() if not each.is_scalar}
    assert {each for one in found if one.array in arrays for each in _instances(one, sizes)} == expected


def _fixed(sizes: dict[str, int]) -> isl.Set:
    values = " and ".join(f"{name} = {size}" for name, size in sizes.items())
    return isl.Set(f"[{', '.join(sizes)}] -> {{ : {values} }}")


def _instances(each: Dependence, sizes: dict[str, int]) -> set[Any]:
    relation = isl.Map(each.relation).intersect_params(_fixed(sizes))
    split = relation.dim(isl.dim_type.in_)
    count = split + relation.dim(isl.dim_type.out)
    found = set()

    def collect(point: isl.Point) -> None:
        at = [int(point.get_coordinate_val(isl.dim_type.set, place).to_python()) for place in range(count)]
        found.add((each.kind, each.source, tuple(at[:split]), each.sink, tuple(at[split:])))

    relation.wrap().foreach_point(collect)
    return found
