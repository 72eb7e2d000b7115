"""Whole numbers computed from the names of sizes, local sizes and macros: `(n + 1) // 2 * local_size_0`.

The text is parsed by Python's own parser and then read against a list of what is allowed. Nothing is ever run.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from coarsen.errors import InvalidInputError

LONGEST_TEXT = 200

_Operator = Callable[[int, int], int]
_OPERATORS: Mapping[type[ast.operator], _Operator] = MappingProxyType(
    {
        ast.Add: operator.add,
        ast.Sub: operator.sub,
        ast.Mult: operator.mul,
        ast.FloorDiv: operator.floordiv,
        ast.Mod: operator.mod,
    }
)


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression that was checked; `names` are those that it needs."""

    text: str
    names: frozenset[str]
    tree: ast.expr

    def evaluate(self, values: Mapping[str, int]) -> int:
        """Its value.

        Raises:
            InvalidInputError: a division by zero, a name without a value.
        """
        try:
            return _value(self.tree, values)
        except ZeroDivisionError:
            raise InvalidInputError(f"'{self.text}' divides by zero") from None
        except KeyError as error:
            raise InvalidInputError(f"'{self.text}' needs a whole number for {error}") from None


def parse_expression(text: str | int) -> Expression:
    """Read an expression: whole numbers, names, + - * // % and parentheses.

    Raises:
        InvalidInputError: anything else stands in it.
    """
    written = str(text)
    return checked_expression(parsed(written), written)


def parsed(text: str) -> ast.expr:
    """The syntax tree of a text in the form of a Python expression. Raises InvalidInputError where it is none."""
    if len(text) > LONGEST_TEXT:
        raise InvalidInputError(f"'{text[:20]}…' is longer than {LONGEST_TEXT} characters")
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise InvalidInputError(f"'{text}' is no expression") from None


def checked_expression(tree: ast.expr, text: str) -> Expression:
    """An expression from its tree. Raises InvalidInputError for what no expression may have."""
    return Expression(text, frozenset(_names(tree, text)), tree)


def _names(tree: ast.expr, text: str) -> set[str]:
    if isinstance(tree, ast.BinOp) and type(tree.op) in _OPERATORS:
        return _names(tree.left, text) | _names(tree.right, text)
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub):
        return _names(tree.operand, text)
    if isinstance(tree, ast.Name):
        return {tree.id}
    if isinstance(tree, ast.Constant) and type(tree.value) is int:
        return set()
    raise InvalidInputError(f"'{text}' may only have whole numbers, names, + - * // % and parentheses")


def _value(tree: ast.expr, values: Mapping[str, int]) -> int:
    if isinstance(tree, ast.BinOp):
        return _OPERATORS[type(tree.op)](_value(tree.left, values), _value(tree.right, values))
    if isinstance(tree, ast.UnaryOp):
        return -_value(tree.operand, values)
    if isinstance(tree, ast.Name):
        return values[tree.id]
    return int(ast.literal_eval(tree))
