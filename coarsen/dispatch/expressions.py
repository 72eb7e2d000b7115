"""Numbers computed from the names of sizes, local sizes, macros and arguments: `(n + 1) // 2 * local_size_0`.

The text is parsed by Python's own parser and then read against a list of what is allowed. Nothing is ever run.
An expression has whole numbers alone; a formula, of which features are computed, has decimals, `/` and `log2` too.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
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
_EXTREMES: Mapping[str, Callable[..., int]] = MappingProxyType({"min": min, "max": max})
# Logarithms to the base 2, the one function of formulas besides the extremes.
LOGARITHM = "log2"
_MANY = range(2, 9)
_COMPARISONS: Mapping[str, _Comparison] = MappingProxyType(
    {
        "==": operator.eq,
        "!=": operator.ne,
        "<=": operator.le,
        ">=": operator.ge,
        "<": operator.lt,
        ">": operator.gt,
    }
)
_SIGN = re.compile("==|!=|<=|>=|<|>")


@dataclass(frozen=True, slots=True)
class _Grammar:
    """The parts of a text: operators, functions with the number of arguments at least, types of constants."""

    operators: frozenset[type[ast.operator]]
    functions: Mapping[str, range]
    constants: tuple[type, ...]
    words: str


_WHOLE = _Grammar(
    frozenset(_OPERATORS),
    MappingProxyType(dict.fromkeys(_EXTREMES, _MANY)),
    (int,),
    "whole numbers, names, + - * // %, min, max and parentheses",
)
_REAL = _Grammar(
    frozenset((*_OPERATORS, ast.Div)),
    MappingProxyType({**dict.fromkeys(_EXTREMES, _MANY), LOGARITHM: range(1, 2)}),
    (int, float),
    "numbers, names, + - * / // %, min, max, log2 and parentheses",
)


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression or a formula that was checked; `names` are those that it needs."""

    text: str
    names: frozenset[str]
    tree: ast.expr

    def evaluate(self, values: Mapping[str, int]) -> int:
        """Return the value of an expression; a formula is computed by its steps.

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
    """Read an expression: whole numbers, names, + - * // %, min, max and parentheses.

    Raises:
        InvalidInputError: anything else stands in it.
    """
    return _parsed_expression(str(text))


# A call of a pipeline asks for the same ones each time.
@lru_cache(maxsize=4096)
def _parsed_expression(text: str) -> Expression:
    return checked_expression(parsed(text), text)


def parse_formula(text: str) -> Expression:
    """Read a formula: as an expression, with decimals, / and log2 too.

    Raises:
        InvalidInputError: anything else stands in it.
    """
    tree = parsed(text)
    return Expression(text, frozenset(_names(tree, text, _REAL)), tree)


def parsed(text: str) -> ast.expr:
    """Return the syntax tree of a text in the form of a Python expression.

    Raises InvalidInputError where it is none.
    """
    if len(text) > LONGEST_TEXT:
        raise InvalidInputError(f"'{text[:20]}…' is longer than {LONGEST_TEXT} characters")
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise InvalidInputError(f"'{text}' is no expression") from None


def checked_expression(tree: ast.expr, text: str) -> Expression:
    """Return an expression from its tree. Raises InvalidInputError for what no expression may have."""
    return Expression(text, frozenset(_names(tree, text, _WHOLE)), tree)


def function_of(call: ast.Call) -> str:
    """Return the name of the function that is called; empty where it is called in another way than by its name."""
    return call.func.id if isinstance(call.func, ast.Name) and not call.keywords else ""


def _names(tree: ast.expr, text: str, grammar: _Grammar) -> set[str]:
    if isinstance(tree, ast.BinOp) and type(tree.op) in grammar.operators:
        return _names(tree.left, text, grammar) | _names(tree.right, text, grammar)
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub):
        return _names(tree.operand, text, grammar)
    if isinstance(tree, ast.Name) and tree.id.isascii():
        return {tree.id}
    value = tree.value if isinstance(tree, ast.Constant) else None
    if isinstance(value, int | float) and type(value) in grammar.constants and math.isfinite(value):
        return set()
    if isinstance(tree, ast.Call) and len(tree.args) in grammar.functions.get(function_of(tree), ()):
        return {name for argument in tree.args for name in _names(argument, text, grammar)}
    raise InvalidInputError(f"'{text}' may only have {grammar.words}")


def _value(tree: ast.expr, values: Mapping[str, int]) -> int:
    if isinstance(tree, ast.BinOp):
        return _OPERATORS[type(tree.op)](_value(tree.left, values), _value(tree.right, values))
    if isinstance(tree, ast.UnaryOp):
        return -_value(tree.operand, values)
    if isinstance(tree, ast.Name):
        return values[tree.id]
    if isinstance(tree, ast.Call):
        return _EXTREMES[function_of(tree)](_value(argument, values) for argument in tree.args)
    return int(ast.literal_eval(tree))


_Comparison = Callable[[int, int], bool]


@dataclass(frozen=True, slots=True)
class Condition:
    """Two expressions and what must be true of their values; `sign` is one of == != <= >= < >."""

    text: str
    sign: str
    left: Expression
    right: Expression

    @property
    def names(self) -> frozenset[str]:
        """The names that it needs."""
        return self.left.names | self.right.names

    def holds(self, values: Mapping[str, int]) -> bool:
        """Return True if it is fulfilled. Raises InvalidInputError where a side can't be computed."""
        return _COMPARISONS[self.sign](self.left.evaluate(values), self.right.evaluate(values))

    def check(self, values: Mapping[str, int]) -> None:
        """Raise InvalidInputError, with the values, if it is not fulfilled."""
        if not self.holds(values):
            shown = ", ".join(f"{name} = {values[name]}" for name in sorted(self.names))
            raise InvalidInputError(f"'{self.text}' does not hold" + (f" for {shown}" if shown else ""))


def parse_condition(text: str) -> Condition:
    """Read a condition: two expressions with a sign between them.

    Raises:
        InvalidInputError: there is no sign, or more than one; a side that is no expression.
    """
    signs = _SIGN.findall(text)
    if len(signs) != 1:
        raise InvalidInputError(f"'{text}' must compare two expressions by one of {' '.join(_COMPARISONS)}")
    left, _, right = text.partition(signs[0])
    return Condition(text, signs[0], parse_expression(left), parse_expression(right))
