"""Where an expression leads in memory: an array, and an index for each of its dimensions."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass

from coarsen.errors import RefusalError, SourcePosition
from coarsen.loops.tree import Expression, Member, Name, Number, Operation, Subscript, Variable

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
        """Return the element so far behind it."""
        *outer, last = self.indices
        return Pointer(self.root, (*outer, added(last, index)))


def alias(what: str, place: SourcePosition) -> RefusalError:
    """Return the refusal of an address of which it isn't known where it leads."""
    return RefusalError("pointer-alias", f"which array {what} leads to is not known", place)


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
    plain = _QUALIFIERS.sub("", spelled).replace("*", " ").replace("(", " ").replace(")", " ")
    return " ".join(plain.split())


def added(first: Expression, second: Expression) -> Expression:
    """Return the sum of two indices."""
    if isinstance(first, Number) and first.value == 0:
        return second
    return Operation("+", (first, second), second.place)


def extent_expression(text: str, names: Mapping[str, Variable], place: SourcePosition) -> Expression:
    """Return an extent of a type, which clang prints as text, as an expression.

    Args:
        text: in C.
        names: the variables that it may name.
        place: where the array is declared.

    Raises:
        RefusalError: `not-affine` for what is more than sums and products of names, members and numbers.
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


class Addresses:
    """Finds what expressions lead to.

    Args:
        declared: the arrays that are declared in the function, by variable: those that it makes itself.
        pointers: what local pointers were set to for good, by variable.
    """

    def __init__(self, declared: Mapping[str, Root], pointers: Mapping[str, Pointer]) -> None:
        self._declared, self._pointers = declared, pointers

    def pointer(self, expression: Expression) -> Pointer:
        """Return the address that an expression of a pointer's or an array's type is. Raises RefusalError."""
        zero = Number("0", 0, expression.place)
        match expression:
            case Name(variable=variable) if variable.identity in self._pointers:
                return self._pointers[variable.identity]
            case Name() | Member():
                return Pointer(self.root(expression), (zero,))
            case Subscript() | Operation(operator="*", operands=(_,)):
                found = self.element(expression)
                if len(found.indices) < len(found.root.shape.extents):
                    return Pointer(found.root, (*found.indices, zero))
            case Operation(operator="+" | "-" as operator, operands=(first, second)):
                if self._is_address(first):
                    offset = second if operator == "+" else Operation("-", (second,), second.place)
                    return self.pointer(first).element(offset)
                if operator == "+":
                    return self.pointer(second).element(first)
            case Operation(operator="&", operands=(inner,)):
                return self.element(inner)
        raise alias("a pointer", expression.place)

    def element(self, expression: Expression) -> Pointer:
        """Return the element that an expression with an index is. Raises RefusalError."""
        match expression:
            case Subscript(base=base, index=index):
                return self.pointer(base).element(index)
            case Operation(operator="*", operands=(inner,)):
                return self.pointer(inner).element(Number("0", 0, expression.place))
            case Member(base=base, field=field):
                record = self.pointer(base) if expression.is_arrow else self.element(base)
                root = record.root
                shape = Shape(_element(expression.type), root.shape.extents, root.shape.is_restrict)
                if shape_of(expression.type) is not None:
                    raise alias("a pointer in a record", expression.place)
                spelled = f"{root.spelled}.{field}"
                return Pointer(Root(spelled, root.variable, shape, root.depth), record.indices)
        raise alias("an expression", expression.place)

    def root(self, expression: Expression) -> Root:
        """Return the array that a name or a member of a record is. Raises RefusalError."""
        if isinstance(expression, Name) and expression.variable.identity in self._declared:
            return self._declared[expression.variable.identity]
        path = path_of(expression)
        if path is None:
            raise alias("a pointer in a record", expression.place)
        variable, spelled = path
        shape = shape_of(expression.type if isinstance(expression, Member) else variable.type)
        if shape is None:
            raise alias(f"'{spelled}'", expression.place)
        if variable.kind == "local":
            raise alias(f"the pointer '{spelled}', which is set more than once,", expression.place)
        return Root(spelled, variable, shape)

    def _is_address(self, expression: Expression) -> bool:
        match expression:
            case Name(variable=variable):
                return variable.is_memory
            case Member():
                return "*" in expression.type or "[" in expression.type
            case Operation(operator="+" | "-", operands=(first, second)):
                return self._is_address(first) or self._is_address(second)
            case Operation(operator="&"):
                return True
            case Subscript(base=base):
                return self._is_address(base) and len(self.pointer(base).indices) < len(
                    self.pointer(base).root.shape.extents
                )
        return False
