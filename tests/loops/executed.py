"""The instances of a C function's statements and the elements that they access, by going through its loops."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from coarsen.errors import SourcePosition
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
            case Evaluate(expression=Assignment(target=target, operator=operator, value=value)):
                written = frozenset(_elements(target, values))
                reads = frozenset(_elements(value, values)) | (written if operator else frozenset())
                found.append(_executed(each, values, around, reads, written))


def _executed(each: Any, values: dict[str, int], around: list[str], reads: Any, writes: Any) -> Executed:
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


def _value(expression: Expression, values: dict[str, int]) -> int:
    match expression:
        case Number(value=int(value)):
            return value
        case Name(variable=variable):
            return values[variable.name]
        case Operation(operator="-", operands=(only,)):
            return -_value(only, values)
        case Operation(operator="&&", operands=(left, right)):
            return int(bool(_value(left, values) and _value(right, values)))
        case Operation(operator=operator, operands=(left, right)):
            one, two = _value(left, values), _value(right, values)
            match operator:
                case "/":
                    return int(one / two)
                case "%":
                    return one - two * int(one / two)
            return int(eval(f"{one} {operator} {two}"))
    raise AssertionError(list(inside(expression)))


Pair = tuple[Executed, Executed]


def pairs(found: list[Executed]) -> dict[str, set[Pair]]:
    """Return what depends on what: last writes before reads and writes, and the writes that come next after reads."""
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
