"""Expressions as OpenCL C: those of a C function, with the names of a nest's kernels, and isl's."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import islpy as isl

from coarsen.errors import RefusalError, SourcePosition
from coarsen.loops import tree

# How tightly an operator binds, the loosest first.
_LEVELS = ("?:", "||", "&&", "|", "^", "&", "== !=", "< <= > >=", "<< >>", "+ -", "* / %")
_BINDING = {sign: level for level, signs in enumerate(_LEVELS) for sign in signs.split()}
_UNARY, _ALONE = len(_LEVELS), len(_LEVELS) + 1
_COMPARISONS = frozenset(sign for signs in _LEVELS[6:8] for sign in signs.split())
_TYPES = {
    **{name: name for name in ("char", "short", "int", "long", "float", "double")},
    **{f"unsigned {name}": f"u{name}" for name in ("char", "short", "int", "long")},
    "signed char": "char",
    "unsigned": "uint",
    "long long": "long",
    "unsigned long long": "ulong",
}
# OpenCL C's own gives an unsigned number.
_ABSOLUTE = {"abs": "(int)abs", "labs": "(long)abs", "llabs": "(long)abs"}


def opencl_type(spelled: str, place: SourcePosition) -> str:
    """Return a C type in OpenCL C. Raises RefusalError (`c-type`) if that has none of the same size."""
    plain = " ".join(word for word in spelled.split() if word not in ("const", "volatile", "restrict"))
    found = "int" if plain.startswith("enum ") else _TYPES.get(plain)
    if found is None:
        raise RefusalError("c-type", f"OpenCL C has nothing for a number of the type '{plain}'", place)
    return found


@dataclass(frozen=True)
class Writer:
    """Writes expressions.

    Attributes:
        whole: the type of iterators and sizes.
        private: variables of which a work-item has its own, by the nest's names.
        kept: variables that hold an element of an array for a while, by the element's text.
    """

    whole: str
    private: frozenset[str]
    kept: dict[str, str] = field(default_factory=dict)

    def text(self, expression: tree.Expression, iterators: Mapping[str, str]) -> str:
        """Return an expression. Raises RefusalError for one that OpenCL C has not got.

        Args:
            expression: in the nest's names, as `Statement.code` has it.
            iterators: what these are at the place.
        """
        return self._part(expression, iterators)[0]

    def element(self, each: tree.Element, iterators: Mapping[str, str]) -> str:
        """Return an element in memory, or a variable. Arguments and errors as of `text`."""
        if not each.indices:
            return each.array if each.array in self.private else f"{each.array}[0]"
        first, *others = each.indices
        if not others:
            return f"{each.array}[{self._part(first, iterators, True)[0]}]"
        # As wide as sizes are: arrays that are larger have to be refused at the launch.
        text = inside(self._part(first, iterators, True), _BINDING["*"])
        for place, (index, extent) in enumerate(zip(others, each.extents[1:], strict=True)):
            assert extent is not None, "the type of an array says its inner extents"
            row = f"({text})" if place else text
            column = inside(self._part(index, iterators, True), _BINDING["*"])
            text = f"{row} * {inside(self._part(extent, iterators, True), _UNARY)} + {column}"
        return f"{each.array}[{text}]"

    def _part(
        self, expression: tree.Expression, iterators: Mapping[str, str], is_index: bool = False
    ) -> tuple[str, int]:
        """The text, and how tightly its operator binds; in an index numbers may be wider than C has them."""

        def part(inner: tree.Expression) -> tuple[str, int]:
            return self._part(inner, iterators, is_index)

        match expression:
            case tree.Number(text=text):
                return text, _ALONE
            case tree.Name(variable=variable):
                text = iterators.get(variable.name, variable.name)
                text = text if re.fullmatch(r"\w+", text) else f"({text})"
                type_ = self._promoted(variable, expression.place)
                if is_index or (type_ == self.whole and not text.isdecimal()):
                    return text, _ALONE
                return (text, _ALONE) if type_ == "int" == self.whole else (f"({type_}){text}", _UNARY)
            case tree.Element():
                text = self.element(expression, iterators)
                return self.kept.get(text, text), _ALONE
            case tree.Cast(type=type_, operand=operand, place=place):
                return f"({opencl_type(type_, place)}){inside(part(operand), _UNARY)}", _UNARY
            case tree.Call(function=function, arguments=arguments):
                inner = ", ".join(part(each)[0] for each in arguments)
                return f"{_function(function)}({inner})", _UNARY if function in _ABSOLUTE else _ALONE
            case tree.Operation(operator="?:", operands=operands):
                test, one, other = (inside(part(each), 1) for each in operands)
                return f"{test} ? {one} : {other}", 0
            case tree.Operation(operator=operator, operands=(only,)):
                return f"{operator}{inside(part(only), _ALONE)}", _UNARY
            case tree.Operation(operator=operator, operands=(first, second)) if operator in _BINDING:
                level = _BINDING[operator]
                # Compilers take `a < b < c` for a mistake.
                least = _BINDING["<<"] if operator in _COMPARISONS else level
                left, right = inside(part(first), least), inside(part(second), max(least, level + 1))
                return f"{left} {operator} {right}", level
        raise RefusalError("unsupported-statement", "a part of it can't be written as OpenCL C", expression.place)

    def _promoted(self, variable: tree.Variable, place: SourcePosition) -> str:
        """The type that C has a name's value in, in OpenCL C; that of iterators and sizes for what is no such."""
        if not variable.is_whole:
            return self.whole
        type_ = opencl_type(variable.type, place)
        return type_ if "int" in type_ or "long" in type_ else "int"


def inside(part: tuple[str, int], level: int) -> str:
    """Return an operand, in parentheses where its own operator binds less tightly than a level."""
    text, own = part
    return text if own >= level else f"({text})"


def _function(name: str) -> str:
    """OpenCL C has one name for all types: `sqrtf` and `sqrt` are `sqrt`, their arguments say which."""
    if name in _ABSOLUTE:
        return _ABSOLUTE[name]
    plain = name if name == "erf" else name.removesuffix("f")
    return "rint" if plain == "nearbyint" else plain


# isl's expressions: in C, and as descriptions and launch conditions have them.

# The signs of isl's operators.
_OPERATORS = {
    "||": "or_ or_else",
    "&&": "and_ and_then",
    "==": "eq",
    "<=": "le",
    "<": "lt",
    ">=": "ge",
    ">": "gt",
    "+": "add",
    "-": "sub",
    "*": "mul",
    "/": "div pdiv_q",
    "%": "pdiv_r zdiv_r",
}
_SIGNS = {name: sign for sign, names in _OPERATORS.items() for name in names.split()}
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
            return str(number), _ALONE if number >= 0 else _UNARY
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
            return f"-{inside(parts[0], _UNARY)}", _UNARY
        if operator in ("cond", "select"):
            test, one, other = (inside(part, 1) for part in parts)
            return f"{test} ? {one} : {other}", 0
        if operator == "fdiv_q":
            return self._downwards(*parts), _ALONE
        if operator in _OPPOSITE and (shorter := self._one_less(expression, _OPPOSITE[operator])):
            return shorter, _BINDING["<"]
        sign = _SIGNS[operator]
        level, sign = _BINDING[sign], self._quotient if sign == "/" else sign
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
                one, two = (inside(self.of(each), _BINDING["+"]) for each in (right.op_get_arg(0), left))
                return f"{one} < {two}"
        return ""


def _kind(expression: isl.AstExpr) -> str:
    return isl.ast_expr_type(expression.get_type()).name
