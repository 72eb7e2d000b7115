"""Where an expression leads in memory: an array, and an index for each of its dimensions."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass

from coarsen.errors import RefusalError, SourcePosition
from coarsen.loops.tree import Expression, Member, Name, Number, Operation, Variable

# Of a type: what stands before an array's extents, and the extents.
_EXTENTS = re.compile(r"\[([^\]]*)\]")
_QUALIFIERS = re.compile(r"\b(?:const|volatile|restrict|__restrict|struct|extern|static)\b")


@dataclass(frozen=True)
class Shape:
    """An array as its type says: an element's type, its extents as C has them, None for one that is not said."""

    element: str
    extents: tuple[str | None, ...]
    is_restrict: bool


@dataclass(frozen=True)
class Root:
    """An array that a function reaches: by what a source calls it, and the variable that leads there.

    `depth` is the number of loops around the declaration of what the function declares itself.
    """

    spelled: str
    variable: Variable
    shape: Shape
    depth: int = 0


@dataclass(frozen=True)
class Pointer:
    """An address: that of the element of an array at these indices, as many of them as are given so far."""

    root: Root
    indices: tuple[Expression, ...]

    def element(self, index: Expression) -> Pointer:
        """Return the element so many further on."""
        *outer, last = self.indices
        is_first = isinstance(last, Number) and last.value == 0
        return Pointer(self.root, (*outer, index if is_first else Operation("+", (last, index), index.place)))


def alias(what: str, place: SourcePosition) -> RefusalError:
    """Return the refusal of an address of which it isn't known where it leads."""
    return RefusalError("pointer-alias", f"which array {what} leads to is not known", place)


def unsupported(what: str, place: SourcePosition) -> RefusalError:
    """Return the refusal of a statement that is no part of a loop nest."""
    return RefusalError("unsupported-statement", f"{what} is not read as a part of an affine loop nest", place)


def shape_of(spelled: str) -> Shape | None:
    """Return what a type says of the array that it leads to; None for a scalar, or pointers to pointers."""
    head, _, _ = spelled.partition("[")
    extents: list[str | None] = [extent.strip() or None for extent in _EXTENTS.findall(spelled)]
    stars = head.count("*")
    if stars > 1 or (stars and extents and "(" not in head) or not stars + len(extents):
        return None
    return Shape(_element(head), tuple([None] * stars + extents), "restrict" in head)


def scalar_shape(spelled: str) -> Shape:
    """Return the shape of a variable of a type: without extents."""
    return Shape(_element(spelled), (), False)


def _element(spelled: str) -> str:
    return " ".join(re.sub(r"[*()]", " ", _QUALIFIERS.sub("", spelled)).split())


def extent_expression(text: str, names: Mapping[str, Variable], place: SourcePosition) -> Expression:
    """Return an extent of a type, which clang prints as text, as an expression of some variables.

    Raises RefusalError (`not-affine`) for what is more than sums and products of names, members and numbers.
    """

    def read(node: ast.expr) -> Expression:
        match node:
            case ast.Constant(value=int(value)):
                return Number(str(value), value, place)
            case ast.Name(id=name) if name in names:
                return Name(names[name], place)
            case ast.Attribute(value=base, attr=field):
                inner = read(base)
                is_arrow = isinstance(inner, Name) and "*" in inner.variable.type
                return Member(inner, field, is_arrow, "int", place)
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() as operator, right=right):
                sign = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}[type(operator)]
                return Operation(sign, (read(left), read(right)), place)
        raise RefusalError("not-affine", f"an extent, {text}, is no sum or product of names and numbers", place)

    plain = re.sub(r"\b(\d+)[uUlL]+\b", r"\1", text.replace("->", ".")).replace("(int)", "")
    try:
        return read(ast.parse(plain.strip(), mode="eval").body)
    except SyntaxError:
        raise RefusalError("not-affine", f"an extent, {text}, can't be read", place) from None


def path_of(expression: Expression) -> tuple[Variable, str] | None:
    """Return the variable of `g->size.x` and the path as C has it; None for any other expression."""
    match expression:
        case Name(variable=variable):
            return variable, variable.name
        case Member(base=base, field=field, is_arrow=is_arrow):
            inner = path_of(base)
            return inner and (inner[0], f"{inner[1]}{'->' if is_arrow else '.'}{field}")
    return None
