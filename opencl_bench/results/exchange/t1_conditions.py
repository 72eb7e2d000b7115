"""Conditions of a T1 file on values of parameters: `use_padding == 0 or block_size_x % 32 != 0`.

Other people wrote the text. Python's own parser makes a tree of it, which is then read against a list of what is
allowed; nothing of it is ever run.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from coarsen.errors import InvalidInputError

# Of a parameter of a tuning problem.
Value = int | float | str | bool

LONGEST_TEXT = 2000
DEEPEST = 50

# Powers are left out: of two numbers of a few digits they may need all memory. So is the repetition of a text.
_ARITHMETIC: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = MappingProxyType(
    {
        ast.Add: operator.add,
        ast.Sub: operator.sub,
        ast.Mult: operator.mul,
        ast.Div: operator.truediv,
        ast.FloorDiv: operator.floordiv,
        ast.Mod: operator.mod,
    }
)
_COMPARISONS: Mapping[type[ast.cmpop], Callable[[Any, Any], bool]] = MappingProxyType(
    {
        ast.Eq: operator.eq,
        ast.NotEq: operator.ne,
        ast.Lt: operator.lt,
        ast.LtE: operator.le,
        ast.Gt: operator.gt,
        ast.GtE: operator.ge,
        ast.In: lambda value, values: value in values,
        ast.NotIn: lambda value, values: value not in values,
    }
)
_FUNCTIONS: Mapping[str, Callable[..., Any]] = MappingProxyType({"min": min, "max": max, "abs": abs})
_ALLOWED = "numbers, texts, names, + - * / // %, comparisons, and, or, not, in, lists, min, max, abs"


@dataclass(frozen=True, slots=True)
class T1Condition:
    """A condition that was checked; `names` are the parameters that it needs."""

    text: str
    names: frozenset[str]
    tree: ast.expr

    def is_met(self, values: Mapping[str, Value]) -> bool:
        """Return True if the condition is true of values of parameters by name.

        Raises:
            InvalidInputError: a division by zero, a parameter without a value, numbers and texts that are mixed.
        """
        try:
            return bool(_value(self.tree, values))
        except KeyError as error:
            raise InvalidInputError(f"'{self.text}' needs a value of {error}") from None
        except (ArithmeticError, TypeError, ValueError) as error:
            raise InvalidInputError(f"'{self.text}' can't be computed: {error}") from None


def parse_t1_condition(text: str) -> T1Condition:
    """Read a condition.

    Raises:
        InvalidInputError: it is no expression, is too long, or has anything but what is allowed.
    """
    if len(text) > LONGEST_TEXT:
        raise InvalidInputError(f"the condition '{text[:20]}…' is longer than {LONGEST_TEXT} characters")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise InvalidInputError(f"the condition '{text}' is no expression") from None
    return T1Condition(text, frozenset(_names(tree, text, 0)), tree)


def _names(tree: ast.expr, text: str, depth: int) -> set[str]:
    """Return the names in a tree. Raises InvalidInputError for what is not allowed."""
    if depth > DEEPEST:
        raise InvalidInputError(f"the condition '{text[:20]}…' is nested more than {DEEPEST} levels deep")
    if isinstance(tree, ast.Name):
        return {tree.id}
    if isinstance(tree, ast.Constant) and isinstance(tree.value, int | float | str):
        return set()
    parts = _parts(tree)
    if parts is None:
        raise InvalidInputError(f"the condition '{text}' may only have {_ALLOWED}")
    return {name for part in parts for name in _names(part, text, depth + 1)}


def _parts(tree: ast.expr) -> list[ast.expr] | None:
    """Return the operands of an allowed operation, None for any other."""
    match tree:
        case ast.BoolOp(values=values):
            return values
        case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.UAdd(), operand=operand):
            return [operand]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _ARITHMETIC:
            return [left, right]
        case ast.Compare(left=left, ops=ops, comparators=others) if all(type(op) in _COMPARISONS for op in ops):
            return [left, *others]
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return elements
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in _FUNCTIONS:
            return arguments
    return None


def _value(tree: ast.expr, values: Mapping[str, Value]) -> Any:  # noqa: ANN401 (what the text is of)
    match tree:
        case ast.Name(id=name):
            return values[name]
        case ast.Constant(value=value):
            return value
        case ast.BoolOp(op=op, values=parts):
            return (all if isinstance(op, ast.And) else any)(_value(part, values) for part in parts)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return not _value(operand, values)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, values)
        case ast.UnaryOp(operand=operand):
            return +_value(operand, values)
        case ast.BinOp(left=left, op=op, right=right):
            return _ARITHMETIC[type(op)](_number(_value(left, values)), _number(_value(right, values)))
        case ast.Compare():
            return _compared(tree, values)
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return _FUNCTIONS[name](*(_value(argument, values) for argument in arguments))
    return [_value(element, values) for element in _parts(tree) or ()]


def _number(value: object) -> int | float:
    if not isinstance(value, int | float):
        raise TypeError(f"{value!r} is no number")
    return value


def _compared(tree: ast.Compare, values: Mapping[str, Value]) -> bool:
    """Return the value of a chain: `32 <= x * y <= 1024`."""
    left = _value(tree.left, values)
    for op, part in zip(tree.ops, tree.comparators, strict=True):
        right = _value(part, values)
        if not _COMPARISONS[type(op)](left, right):
            return False
        left = right
    return True
