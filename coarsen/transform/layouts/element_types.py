"""The record that an element of an argument's array is, by what the source declares and LLVM's type of it.

    global struct Body *bodies,  %struct.Body = type { float, i8, double, i16 }   →   24: 4@0 1@4 8@8 2@16

A structure that holds a union is refused where bytes that are padding of one member may be data of another; one of
numbers, the longest of which is as long as the union, is a field.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from coarsen.errors import RefusalError
from coarsen.ir.graph.details import ElementAddress
from coarsen.ir.graph.instruction import users
from coarsen.ir.graph.opcode import Opcode
from coarsen.ir.graph.operands import Argument as GraphArgument
from coarsen.ir.kernel import Argument
from coarsen.ir.layout import field_offset, size_of
from coarsen.ir.types import ArrayType, FloatType, IntegerType, PointerType, StructType, Type, VectorType
from coarsen.variant.records import MOST_FIELDS, Field, RecordType

_SCALARS: Mapping[str, Type] = {
    **dict.fromkeys(("char", "uchar", "unsigned char", "signed char"), IntegerType(8)),
    **dict.fromkeys(("short", "ushort", "unsigned short"), IntegerType(16)),
    **dict.fromkeys(("int", "uint", "unsigned int"), IntegerType(32)),
    **dict.fromkeys(("long", "ulong", "unsigned long"), IntegerType(64)),
    **{name: FloatType(name) for name in ("half", "float", "double")},
}
_VECTOR = re.compile(r"(?P<element>[a-z]+)(?P<count>2|3|4|8|16)\Z")
_LONG_VECTOR = re.compile(r"(?P<element>[a-z ]+) __attribute__\(\(ext_vector_type\((?P<count>\d+)\)\)\)\Z")


@dataclass(frozen=True)
class ElementType:
    """An element: LLVM's type, the record that it is, LLVM's type of each field, and arrays that were split."""

    type: Type
    record: RecordType
    parts: Mapping[Field, Type]
    split: tuple[Field, ...] = ()

    def split_at(self, byte: int) -> Field | None:
        """Return the array whose elements are fields, with a byte of the record in it; None if there is none."""
        return next((each for each in self.split if each.offset <= byte < each.end), None)


def element_type(
    argument: Argument, graph: GraphArgument, structures: Mapping[str, StructType], *, is_deep: bool = False
) -> ElementType:
    """Return what an argument points to an array of.

    Args:
        argument: as the source declares it.
        graph: the same argument, with its uses.
        structures: the module's named ones.
        is_deep: whether the elements of members that are arrays of numbers or vectors are fields.

    Raises:
        RefusalError: `layout-mixed-types`, it can't be said, or is of no known size, or holds a union, or has too
            many fields.
    """
    is_declared = bool(argument.base_type_name or argument.type_name)
    found = _declared(argument, structures) if is_declared else _used(graph)
    if found is None or size_of(found) == 0:
        raise RefusalError("layout-mixed-types", f"it can't be said what the elements of {argument.name} are")
    if any(_names_union(part) for part in _within(found)):
        raise RefusalError("layout-mixed-types", f"the elements of {argument.name} hold a union")
    if any(isinstance(part, PointerType) for part in _within(found)):
        raise RefusalError("layout-mixed-types", f"the elements of {argument.name} hold pointers")
    members = dict(_fields(found))
    if not is_deep:
        return ElementType(found, RecordType(size_of(found), tuple(members)), members)
    count = sum(each.size // size_of(_part(member)) for each, member in members.items())
    if count > MOST_FIELDS:
        reason = f"the elements of {argument.name} have {count} fields, and {MOST_FIELDS} are the most"
        raise RefusalError("layout-mixed-types", reason)
    parts = {
        part: _part(member) for each, member in members.items() for part in each.parts(size_of(_part(member)))
    }
    split = tuple(each for each in members if each not in parts)
    return ElementType(found, RecordType(size_of(found), tuple(parts)), parts, split)


def _part(member: Type) -> Type:
    """Return what the elements of an array of numbers or vectors are; any other member as it is."""
    innermost = member
    while isinstance(innermost, ArrayType):
        innermost = innermost.element
    return innermost if isinstance(innermost, IntegerType | FloatType | VectorType) else member


def _fields(type_: Type) -> Iterator[tuple[Field, Type]]:
    if not isinstance(type_, StructType):
        yield Field(0, size_of(type_)), type_
        return
    for index, part in enumerate(type_.elements):
        if size_of(part):
            yield Field(field_offset(type_, index), size_of(part)), part


def _within(type_: Type) -> Iterator[Type]:
    yield type_
    if isinstance(type_, StructType):
        for part in type_.elements:
            yield from _within(part)
    elif isinstance(type_, ArrayType):
        yield from _within(type_.element)


def _names_union(type_: Type) -> bool:
    """Return True for a union with bytes that are padding in the member for which LLVM's type stands."""
    if not isinstance(type_, StructType) or not type_.name.startswith("union"):
        return False
    whole = len(type_.elements) == 1 and isinstance(type_.elements[0], IntegerType | FloatType)
    return not (whole and size_of(type_.elements[0]) == size_of(type_))


def _declared(argument: Argument, structures: Mapping[str, StructType]) -> Type | None:
    """The type that clang recorded: of a structure by its name, of a number by OpenCL's."""
    # A typedef may be called as another structure's tag is: the type without typedefs goes first.
    text = argument.base_type_name or argument.type_name
    name = text.removesuffix("*").strip()
    return _named(name, structures) if text.endswith("*") and not name.endswith("*") else None


def _named(name: str, structures: Mapping[str, StructType]) -> Type | None:
    if name in _SCALARS:
        return _SCALARS[name]
    match = _VECTOR.match(name) or _LONG_VECTOR.match(name)
    if match and match["element"] in _SCALARS:
        return VectorType(int(match["count"]), _SCALARS[match["element"]])
    kind, _, rest = name.rpartition(" ")
    called = f"{kind or 'struct'}.{rest}"
    # Where a function declares another one of that name, clang numbers one of both: either may be the argument's.
    is_numbered = re.compile(re.escape(called) + r"\.\d+\Z").match
    return None if any(map(is_numbered, structures)) else structures.get(called)


def _used(argument: GraphArgument) -> Type | None:
    """The one type over which addresses step from the start of the array; None if there are several."""
    details = (user.detail for user in users(argument) if user.opcode is Opcode.GETELEMENTPTR)
    found = {detail.source_type for detail in details if isinstance(detail, ElementAddress)}
    return found.pop() if len(found) == 1 else None
