"""Expressions of a C function as OpenCL C, with the names of a nest's kernels."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

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
