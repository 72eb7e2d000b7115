"""Expressions as OpenCL C: those of a C function, with the names of a nest's kernels, and isl's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import reduce

import islpy as isl

from coarsen.errors import RefusalError, SourcePosition
from coarsen.loops import tree

# How tightly an operator binds, the loosest first.
_LEVELS = ("?:", "||", "&&", "|", "^", "&", "== !=", "< <= > >=", "<< >>", "+ -", "* / % //")
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

    def text(self, expression: tree.Expression, iterators: Mapping[str, tree.Expression]) -> str:
        """Return an expression in the nest's names, at a place where iterators have these values.

        Raises RefusalError for one that OpenCL C has not got.
        """
        return self._part(expression, iterators)[0]

    def assignment(self, each: tree.Assignment, iterators: Mapping[str, tree.Expression]) -> str:
        """Return an assignment as a statement. Arguments and errors as of `text`."""
        target, value = self.text(each.target, iterators), self.text(each.value, iterators)
        return f"{target}{f' {each.operator}= '}{value};"

    def of_isl(self, made: isl.AstExpr) -> tree.Expression:
        """Return an expression that isl's code generator made, as one of OpenCL C."""
        return expression_of(made, suffix="L" * (self.whole == "long"))

    def plain(self, expression: tree.Expression) -> str:
        """Return an expression all of which has one type, as `of_isl` returns it."""
        return self._part(expression, {}, True)[0]

    def element(self, each: tree.Element, iterators: Mapping[str, tree.Expression]) -> str:
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
        self, expression: tree.Expression, iterators: Mapping[str, tree.Expression], is_index: bool = False
    ) -> tuple[str, int]:
        """The text, and how tightly its operator binds; in an index numbers may be wider than C has them."""

        def part(inner: tree.Expression) -> tuple[str, int]:
            return self._part(inner, iterators, is_index)

        match expression:
            case tree.Number(text=text):
                return text, _UNARY if text.startswith("-") else _ALONE
            case tree.Name(variable=variable):
                value = iterators.get(variable.name)
                own = (variable.name, _ALONE) if value is None else self._part(value, {}, True)
                type_ = "" if is_index else self._promoted(variable, expression.place)
                if is_index or (type_ == self.whole and (type_ == "int" or not own[0].isdecimal())):
                    return own
                return f"({type_}){inside(own, _UNARY)}", _UNARY
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
                further = level + (operator not in ("&&", "||"))
                left, right = inside(part(first), least), inside(part(second), max(least, further))
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


# isl's expressions, as trees of the same kind.

_NOWHERE = SourcePosition(1, 1)
# The signs of isl's operators.
_SIGNS = {
    "or_": "||", "or_else": "||", "and_": "&&", "and_then": "&&", "eq": "==", "le": "<=", "lt": "<", "ge": ">=",
    "gt": ">", "add": "+", "sub": "-", "minus": "-", "mul": "*", "div": "/", "pdiv_q": "/", "fdiv_q": "/",
    "pdiv_r": "%", "zdiv_r": "%", "cond": "?:", "select": "?:",
}  # fmt: skip


def expression_of(made: isl.AstExpr, quotient: str = "/", suffix: str = "") -> tree.Expression:
    """Return an expression that isl's code generator made.

    Args:
        made: by isl.
        quotient: the sign of a quotient; `//` is one downwards.
        suffix: of numbers to which `min` and `max` are applied: all that these are of has one type.
    """
    match isl.ast_expr_type(made.get_type()).name:
        case "id":
            return variable(made.id_get_id().get_name())
        case "int":
            return _number(int(made.int_get_val().to_python()))
    operator = isl.ast_expr_op_type(made.op_get_type()).name
    arguments = [made.op_get_arg(place) for place in range(made.op_get_n_arg())]
    parts = [expression_of(each, quotient, suffix) for each in arguments]
    if operator in ("min", "max"):
        typed = (
            replace(each, text=each.text + suffix) if isinstance(each, tree.Number) else each for each in parts
        )
        return reduce(lambda one, other: tree.Call(operator, (one, other), _NOWHERE), typed)
    sign = _SIGNS[operator]
    if sign == "/" and quotient == "//":
        return operation("//", *parts)
    if operator == "fdiv_q":
        first, second = parts
        below = operation("-", operation("+", operation("-", first), second), _number(1))
        cases = operation("/", first, second), operation("-", operation("/", below, second))
        return operation("?:", operation(">=", first, _number(0)), *cases)
    return operation(sign, *parts)


def size_text(made: isl.AstExpr, names: Mapping[str, tree.Expression] | None = None) -> str:
    """Return an expression as `dispatch.expressions` reads it, with what stands for some of its names."""
    return Writer("int", frozenset())._part(expression_of(made, "//"), names or {}, True)[0]


def variable(name: str) -> tree.Name:
    """Return the use of a name of the kernel's text."""
    return tree.Name(tree.Variable("", name, "", "symbol"), _NOWHERE)


def operation(sign: str, *operands: tree.Expression) -> tree.Operation:
    """Return an operation that stands nowhere in the source."""
    return tree.Operation(sign, operands, _NOWHERE)


def _number(value: int) -> tree.Number:
    return tree.Number(str(value), value, _NOWHERE)


def names_in(expression: tree.Expression) -> frozenset[str]:
    """Return the names in an expression."""
    return frozenset(each.variable.name for each in tree.inside(expression) if isinstance(each, tree.Name))
