"""isl's expressions as text: in C, and as descriptions and launch conditions have them."""

from __future__ import annotations

from collections.abc import Mapping

import islpy as isl

from coarsen.loops.expression_text import inside

# By isl's operator: the sign, and how tightly it binds.
_SIGNS = {
    "or_": ("||", 1),
    "or_else": ("||", 1),
    "and_": ("&&", 2),
    "and_then": ("&&", 2),
    "eq": ("==", 3),
    "le": ("<=", 4),
    "lt": ("<", 4),
    "ge": (">=", 4),
    "gt": (">", 4),
    "add": ("+", 5),
    "sub": ("-", 5),
    "mul": ("*", 6),
    "div": ("/", 6),
    "pdiv_q": ("/", 6),
    "pdiv_r": ("%", 6),
    "zdiv_r": ("%", 6),
}
_ALONE = 8
_OPPOSITE = {"ge": "<", "le": ">"}


def c_text(expression: isl.AstExpr, whole: str = "int") -> str:
    """Return an expression in C, whose `min` and `max` are OpenCL C's: all they are of has one type.

    Args:
        expression: as isl's code generator makes it.
        whole: the type of names.
    """
    return _Text("/", {}, "L" * (whole == "long")).of(expression)[0]


def in_parentheses(text: str) -> str:
    """Return an expression in parentheses if it has cases, so that it may stand beside an operator."""
    return f"({text})" if "?" in text else text


def size_text(expression: isl.AstExpr, names: Mapping[str, str] | None = None) -> str:
    """Return an expression as `dispatch.expressions` reads it: `//` is the quotient downwards.

    Args:
        expression: as isl's code generator makes it.
        names: what stands for a name.
    """
    return _Text("//", names or {}).of(expression)[0]


def names_in(expression: isl.AstExpr) -> frozenset[str]:
    """Return the names in an expression."""
    kind = _kind(expression)
    if kind != "op":
        return frozenset([expression.id_get_id().get_name()] if kind == "id" else [])
    return frozenset().union(*(names_in(expression.op_get_arg(at)) for at in range(expression.op_get_n_arg())))


class _Text:
    def __init__(self, quotient: str, names: Mapping[str, str], suffix: str = "") -> None:
        self._quotient, self._names, self._suffix = quotient, names, suffix

    def of(self, expression: isl.AstExpr) -> tuple[str, int]:
        """Return the text, and how tightly its operator binds."""
        kind = _kind(expression)
        if kind == "id":
            name = expression.id_get_id().get_name()
            return self._names.get(name, name), _ALONE
        if kind == "int":
            number = int(expression.int_get_val().to_python())
            return str(number), _ALONE if number >= 0 else 7
        operator = isl.ast_expr_op_type(expression.op_get_type()).name
        parts = [self.of(expression.op_get_arg(place)) for place in range(expression.op_get_n_arg())]
        if operator in ("max", "min"):
            found, *others = (
                f"{text}{self._suffix}" if text.lstrip("-").isdecimal() else text for text, _ in parts
            )
            for each in others:
                found = f"{operator}({found}, {each})"
            return found, _ALONE
        if operator == "minus":
            return f"-{inside(parts[0], 7)}", 7
        if operator in ("cond", "select"):
            test, one, other = (inside(part, 1) for part in parts)
            return f"{test} ? {one} : {other}", 0
        if operator == "fdiv_q":
            return self._downwards(*parts), _ALONE
        if operator in _OPPOSITE and (shorter := self._one_less(expression, _OPPOSITE[operator])):
            return shorter, 4
        sign, level = _SIGNS[operator]
        sign = self._quotient if sign == "/" else sign
        first, second = inside(parts[0], level), inside(parts[1], level + (sign not in ("&&", "||", "+")))
        return f"{first} {sign} {second}", level

    def _downwards(self, first: tuple[str, int], second: tuple[str, int]) -> str:
        one, two = inside(first, _ALONE), inside(second, _ALONE)
        if self._quotient == "//":
            return f"({one} // {two})"
        return f"({one} >= 0 ? {one} / {two} : -((-{one} + {two} - 1) / {two}))"

    def _one_less(self, expression: isl.AstExpr, sign: str) -> str:
        """`n >= i + 1` as `i < n`; empty where there is no such 1."""
        left, right = (expression.op_get_arg(place) for place in range(2))
        if sign == ">":
            left, right = right, left
        # Now left >= right is what is asked; `left >= x + 1` is `x < left`.
        if _kind(right) == "op" and isl.ast_expr_op_type(right.op_get_type()).name == "add":
            last = right.op_get_arg(1)
            if _kind(last) == "int" and int(last.int_get_val().to_python()) == 1:
                return f"{inside(self.of(right.op_get_arg(0)), 5)} < {inside(self.of(left), 5)}"
        return ""


def _kind(expression: isl.AstExpr) -> str:
    return isl.ast_expr_type(expression.get_type()).name
