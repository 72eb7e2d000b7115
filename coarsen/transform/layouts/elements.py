"""Which element, and which bytes of it, each use of an array is about: of an argument's, or of a local variable.

    %p = getelementptr inbounds %struct.Body, ptr addrspace(1) %bodies, i64 %i
    %m = getelementptr inbounds %struct.Body, ptr addrspace(1) %p, i32 0, i32 2
    %v = load double, ptr addrspace(1) %m                     →   element %i, bytes 8 to 15

Addresses are followed through `getelementptr` alone: what merges pointers, compares, stores or passes them on, is
refused. Each of the steps must be `inbounds`: only then the index of the element is exact, and no sum of bytes has
wrapped round. An index into an array inside of a record is taken to stay in that array, as OpenCL C demands.
An address that steps on there (`float *p = bodies[i].place + k; p[j]`) is refused: it may lead out of the array.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from coarsen.base.names import did_you_mean
from coarsen.errors import InvalidInputError, RefusalError
from coarsen.ir.added_arguments import AddedArgument
from coarsen.ir.graph.details import ElementAddress, Opcode
from coarsen.ir.graph.instruction import Instruction, users
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.operands import Argument as GraphArgument
from coarsen.ir.graph.operands import Named, Operand, Variable
from coarsen.ir.graph.variables import name_in_source
from coarsen.ir.kernel import Argument, Kernel
from coarsen.ir.opencl.builtins import is_atomic_update
from coarsen.ir.opencl.queries import builtin_name
from coarsen.ir.types import (
    AddressSpace,
    ArrayType,
    FloatType,
    IntegerType,
    PointerType,
    StructType,
    Type,
    VectorType,
    field_offset,
    size_of,
)
from coarsen.variant.data_layout import MOST_FIELDS, Field, RecordType

# The slot in which each has the address that it accesses.
_ACCESSED = {Opcode.LOAD: 0, Opcode.STORE: 1, Opcode.ATOMICRMW: 0, Opcode.CMPXCHG: 0}
# Followed by the types; `llvm.memcpy.inline` and the like are none.
_COPIES = ("llvm.memcpy.p", "llvm.memmove.p")
_FILL = "llvm.memset.p"
_SPACE_NAMES = {AddressSpace.GLOBAL: "global", AddressSpace.CONSTANT: "constant"}
_VECTOR_ACCESSES = ("vload", "vstore", "async_work_group")


class ArrayNote(Protocol):
    """An array that was rewritten, as a launch has to pass it, or as it lies."""

    @property
    def sentence(self) -> str:
        """Return what the host has to do, or what was done."""


@dataclass(frozen=True)
class RewrittenArrays:
    """A module with the kernel, not yet verified, whose arrays lie, or are read, otherwise.

    Attributes:
        module: with the kernel.
        arrays: what was done to each.
        assumptions: what was taken for granted, in words.
        added_arguments: the extents, which stand after the kernel's own arguments.
    """

    module: Module
    arrays: tuple[ArrayNote, ...]
    assumptions: tuple[str, ...] = ()
    added_arguments: tuple[AddedArgument, ...] = ()


@dataclass(frozen=True)
class Place:
    """An address: the argument, and the sum of what is added to it, in bytes.

    Attributes:
        array: its start, an argument or a variable.
        constant: what is added in any case.
        steps: values with what they are multiplied by, a multiple of the record's size.
        inner: the same for indices into an array inside of a record, which are taken to stay in it.
        reach: how much the inner ones add at most.
        position: where the element stands by the array's order; None for an array without one.
    """

    array: Named
    constant: int = 0
    steps: tuple[tuple[Operand, int], ...] = ()
    inner: tuple[tuple[Operand, int], ...] = ()
    reach: int = 0
    position: Operand | None = None

    @property
    def name(self) -> str:
        """The array's name in the source."""
        return called(self.array)

    def with_values(self, others: Mapping[Operand, Operand]) -> Place:
        """Return the place with other values in their stead."""
        steps, inner = (
            tuple((others.get(value, value), scale) for value, scale in each) for each in (self.steps, self.inner)
        )
        position = self.position if self.position is None else others.get(self.position, self.position)
        return replace(self, steps=steps, inner=inner, position=position)


Places = dict[int, Place]
"""The places that an instruction accesses, by the slot of the address."""


def called(array: Named) -> str:
    """Return an array's name in the source: `tile` of the variable `kernel.tile`."""
    return name_in_source(array.name) if isinstance(array, Variable) else array.name


def resolved_uses(
    array: Named, record_size: int, *, vectors: bool = False
) -> Iterator[tuple[Instruction, int, Place]]:
    """Yield each access to an array: the instruction, the slot of the address, the place.

    Args:
        array: an argument or a variable, which no constant expression names.
        record_size: of an element, in bytes.
        vectors: whether `vload` and `vstore` are accesses; their index is not in the place.

    Raises:
        RefusalError: `layout-pointer-escapes`, a use that is none of those that are followed;
            `layout-mixed-types`, an address that can be in the midst of any element.
    """
    waiting: list[tuple[Named, Place]] = [(array, Place(array))]
    while waiting:
        pointer, place = waiting.pop()
        for use in pointer.uses:
            user = use.user
            assert isinstance(user, Instruction)
            if user.opcode is Opcode.GETELEMENTPTR and use.slot == 0:
                waiting.append((user, _stepped(place, user, record_size)))
            elif _is_access(user, use.slot) or (vectors and is_vector_access(user)):
                yield user, use.slot, place
            else:
                raise _escape(user, called(array))


def array_argument(kernel: Kernel, name: str, *spaces: int) -> Argument:
    """Return an argument that points to an array. Raises InvalidInputError: there is none in one of the spaces."""
    named = {argument.name: argument for argument in kernel.arguments}
    if name not in named:
        raise InvalidInputError(f"the kernel {kernel.name} has no argument {name}{did_you_mean(name, named)}")
    type_ = named[name].type
    if not isinstance(type_, PointerType) or type_.address_space not in spaces:
        where = " or ".join(_SPACE_NAMES[space] for space in spaces)
        raise InvalidInputError(f"the argument {name} is no array in {where} memory")
    return named[name]


def is_copy(instruction: Instruction) -> bool:
    """Return True for a copy of bytes from one place to another."""
    return instruction.callee.startswith(_COPIES)


def is_fill(instruction: Instruction) -> bool:
    """Return True for bytes all set to one value."""
    return instruction.callee.startswith(_FILL)


def is_vector_access(instruction: Instruction) -> bool:
    """Return True for a `vloadn` or `vstoren`, whose last argument is the address; not for those of halves."""
    name = builtin_name(instruction.callee) if instruction.opcode is Opcode.CALL else ""
    return any(name.startswith(way) and name.removeprefix(way).isdecimal() for way in ("vload", "vstore"))


def accessed_type(instruction: Instruction) -> Type:
    """Return the type of the value that is read or written; of an atomic function that of its result."""
    if instruction.opcode is Opcode.STORE or builtin_name(instruction.callee).startswith("vstore"):
        return instruction.operands[0].type
    if instruction.opcode in (Opcode.ATOMICRMW, Opcode.CMPXCHG):
        return instruction.operands[1].type
    return instruction.type


def _is_access(user: Instruction, slot: int) -> bool:
    if user.opcode is Opcode.CALL:
        return (slot < 2 and is_copy(user)) or (slot == 0 and (is_fill(user) or is_atomic_update(user.callee)))
    return _ACCESSED.get(user.opcode) == slot


def _escape(user: Instruction, array: str) -> RefusalError:
    name = builtin_name(user.callee) if user.opcode is Opcode.CALL else ""
    if name.startswith(_VECTOR_ACCESSES):
        reason = f"{name} accesses {array} across its elements, or across their fields"
        return RefusalError("layout-mixed-types", reason, user.position)
    how = f"a call of {name or user.callee}" if user.opcode is Opcode.CALL else f"'{user.opcode}'"
    reason = f"an address in {array} is used by {how}: only accesses to its elements can be rewritten"
    return RefusalError("layout-pointer-escapes", reason, user.position)


def _stepped(place: Place, user: Instruction, record_size: int) -> Place:
    """The place to which a `getelementptr` leads from another one."""
    if "inbounds" not in user.flags or not isinstance(user.type, PointerType):
        reason = f"an address in {place.name} may wrap around, or is one of several"
        raise RefusalError("layout-pointer-escapes", reason, user.position)
    assert isinstance(user.detail, ElementAddress)
    stepped_over: Type = user.detail.source_type
    for place_of_index, index in enumerate(user.operands[1:]):
        count = 0
        if place_of_index == 0:
            scale = size_of(stepped_over)
        elif isinstance(stepped_over, StructType):
            chosen = _constant(index, user, place)
            place = replace(place, constant=place.constant + field_offset(stepped_over, chosen))
            stepped_over = stepped_over.elements[chosen]
            continue
        else:
            assert isinstance(stepped_over, ArrayType | VectorType)
            count, stepped_over = stepped_over.count, stepped_over.element
            scale = size_of(stepped_over)
        place = stepped_by(place, index, scale, user, record_size, count)
    return place


def stepped_by(
    place: Place, index: Operand, scale: int, user: Instruction, record_size: int, count: int = 0
) -> Place:
    """Return a place some bytes on, an index times their number. Raises RefusalError: `layout-mixed-types`.

    `count` is the number of the elements that the index chooses among, if known.
    """
    if not index.is_local:
        return replace(place, constant=place.constant + scale * _constant(index, user, place))
    if not isinstance(index.type, IntegerType) or index.type.width > 64:
        raise _midst(user, place)
    if scale % record_size == 0:
        return replace(place, steps=(*place.steps, (index, scale)))
    if count:
        reach = place.reach + scale * (count - 1)
        return replace(place, inner=(*place.inner, (index, scale)), reach=reach)
    raise _midst(user, place)


def _constant(index: Operand, user: Instruction, place: Place) -> int:
    if index.number is None:
        raise _midst(user, place)
    return index.number


def _midst(user: Instruction, place: Place) -> RefusalError:
    reason = f"an address in {place.name} does not step over whole elements"
    return RefusalError("layout-mixed-types", reason, user.position)


# The record that an element of an argument's array is, by what the source declares and LLVM's type of it.
#
#     global struct Body *bodies,  %struct.Body = type { float, i8, double, i16 }   →   24: 4@0 1@4 8@8 2@16
#
# A structure that holds a union is refused where bytes that are padding of one member may be data of another; one
# of numbers, the longest of which is as long as the union, is a field.

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
