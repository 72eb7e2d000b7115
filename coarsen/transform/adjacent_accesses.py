"""Loads or stores of one block that may be carried out together, as one call of `vloadn` or `vstoren`.

A *group* is a set of plain loads, or of plain stores, of one type whose addresses differ by constants, with
nothing between its first and its last member that may touch the same memory: not a write between loads, not an
access of any kind between stores. The loads of a group may all be done where the first stands, its stores where
the last does.

A *run* is a part of a group without a gap between its members: at least two addresses, at most 16 elements.

Refuses when an access is volatile or atomic, aligned worse than its element, of another type than the scalars
that OpenCL has `vloadn` for and vectors of 2, 4 or 8 of them, or in private or generic memory; when
`exact_forms.py` can't tell how far two addresses are apart; across calls that write, or order memory. Vectors of
16 bytes and more are left alone because it does not pay: they fill a register, and Intel's CPU runtime (2026.2)
no longer vectorises a kernel with longer ones across its work-items (nbody is 7 times slower with them).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from coarsen.analysis.algebra.exact_forms import ExactAddress, ExactForms
from coarsen.analysis.algebra.polynomial import Polynomial, Product
from coarsen.analysis.memory_accesses import Aliasing, Place, Touched
from coarsen.ir.graph.instruction import Block, Instruction, alignment
from coarsen.ir.graph.operands import Callee, Operand, ValueKind
from coarsen.ir.kernel import Kernel
from coarsen.ir.opencl.queries import INTEGER_CODES, mangled_name, mangled_type
from coarsen.ir.types import (
    AddressSpace,
    FloatType,
    IntegerType,
    PointerType,
    Type,
    VectorType,
    content_bytes,
    size_of,
)

_SPACES = frozenset({AddressSpace.GLOBAL, AddressSpace.CONSTANT, AddressSpace.LOCAL})
_PARTS = frozenset({1, 2, 4, 8})
_WIDE_BYTES = 16


@dataclass(frozen=True, slots=True)
class Member:
    """A load or store: its position among its block's instructions, and its address."""

    position: int
    instruction: Instruction
    address: ExactAddress

    @property
    def pointer(self) -> Operand:
        """Return where it loads from or stores to."""
        return self.instruction.operands[-1]


@dataclass(frozen=True)
class Run:
    """Accesses to neighbouring addresses.

    `members` come by address; several loads may share one. `objects_below` is the size in bytes that the memory
    object must stay below for them to be neighbours, None if they are in any object.
    """

    members: tuple[Member, ...]
    type: Type
    place: Place
    is_load: bool
    objects_below: int | None

    @property
    def count(self) -> int:
        """Return how many addresses there are."""
        return len({member.address.offset for member in self.members})

    @property
    def element(self) -> Type:
        """The scalar that the accessed type consists of."""
        return shape_of(self.type)[0]

    @property
    def parts(self) -> int:
        """Return how many elements one member accesses."""
        return shape_of(self.type)[1]

    @property
    def vector(self) -> VectorType:
        """The vector that all of them are."""
        return VectorType(self.count * self.parts, self.element)


@dataclass
class _Group:
    type: Type
    place: Place
    is_load: bool
    form: Polynomial
    members: list[Member]

    @property
    def key(self) -> _Key:
        """Return what only a further member of the group has in common with it, among accesses to its place."""
        return self.type, frozenset(self.form.terms.items())


_Key = tuple[Type, frozenset[tuple[Product, int]]]
# The groups that further accesses may join, by their place and by whether they are loads.
_OpenGroups = dict[Touched, dict[_Key, _Group]]


class AdjacentAccesses:
    """Finds the runs of a kernel in normal form."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._aliasing = Aliasing(kernel)
        self._forms = ExactForms(kernel)

    def runs(self, block: Block) -> Iterator[Run]:
        """Yield the runs of a block, none of which has a member of another."""
        for group in self._groups(block):
            yield from self._runs_of(group)

    def _groups(self, block: Block) -> Iterator[_Group]:
        groups: _OpenGroups = {}
        for position, instruction in enumerate(block.instructions):
            fitting = self._fitting(groups, position, instruction)
            for access in self._aliasing.conflicting(instruction, groups):
                yield from (group for group in groups[access].values() if group is not fitting)
                groups[access].clear()
            if fitting is not None:
                groups.setdefault((fitting.place, fitting.is_load), {})[fitting.key] = fitting
        yield from (group for of_place in groups.values() for group in of_place.values())

    def _fitting(self, groups: _OpenGroups, position: int, instruction: Instruction) -> _Group | None:
        """The group that an access joins, a new one perhaps; None for an instruction that can't be in any."""
        if not is_plain_access(instruction):
            return None
        is_load = instruction.opcode == "load"
        type_ = instruction.type if is_load else instruction.operands[0].type
        member = Member(position, instruction, self._forms.address(instruction.operands[-1]))
        own = _Group(type_, self._aliasing.place(member.pointer), is_load, member.address.form, [member])
        group = groups.get((own.place, is_load), {}).get(own.key)
        if group is None or not _has_room(group, member):
            return own
        group.members.append(member)
        return group

    def _runs_of(self, group: _Group) -> Iterator[Run]:
        step = content_bytes(group.type)
        elements = shape_of(group.type)[1]
        objects_below = self._objects_below(group)
        if objects_below == 0:
            return
        by_offset: dict[int, list[Member]] = {}
        for member in group.members:
            by_offset.setdefault(member.address.offset, []).append(member)
        for neighbours in without_gaps(sorted(by_offset), step):
            for offsets in split_run(neighbours, elements):
                members = tuple(member for offset in offsets for member in by_offset[offset])
                yield Run(members, group.type, group.place, group.is_load, objects_below)

    def _objects_below(self, group: _Group) -> int | None:
        """The size that the memory object must stay below; 0 if it is known not to.

        Members that are in no run count as well: those that are must not be the same memory.
        """
        wrap = min((m.address.wrap for m in group.members if m.address.wrap is not None), default=None)
        if wrap is None or group.place.space == AddressSpace.LOCAL:
            return None
        root = group.place.root
        if root is not None and root.kind is ValueKind.GLOBAL:
            variable = self._kernel.globals[root.text]
            return None if size_of(variable.value_type) < wrap else 0
        return wrap


def is_plain_access(instruction: Instruction) -> bool:
    """Return True for a load or store that may become part of a vector access."""
    if instruction.opcode not in ("load", "store") or instruction.is_volatile or instruction.is_atomic:
        return False
    type_ = instruction.type if instruction.opcode == "load" else instruction.operands[0].type
    element, count = shape_of(type_)
    pointer = instruction.operands[-1].type
    return (
        is_element(element)
        and count in _PARTS
        and content_bytes(type_) < _WIDE_BYTES
        and getattr(pointer, "address_space", None) in _SPACES
        and alignment(instruction) >= content_bytes(element)
    )


def _has_room(group: _Group, member: Member) -> bool:
    """Return True if a store leaves alone what the others store to. Loads may share bytes."""
    step = content_bytes(group.type)
    return group.is_load or all(abs(m.address.offset - member.address.offset) >= step for m in group.members)


def shape_of(type_: Type) -> tuple[Type, int]:
    """Return a type's element and how many of them it has."""
    return (type_.element, type_.count) if isinstance(type_, VectorType) else (type_, 1)


def without_gaps(offsets: Sequence[int], step: int) -> Iterator[list[int]]:
    """Sorted offsets, cut where two neighbours are not `step` apart."""
    for _, numbered in groupby(enumerate(offsets), lambda each: each[1] - each[0] * step):
        yield [offset for _, offset in numbered]


def split_run(offsets: list[int], elements: int) -> Iterator[list[int]]:
    """Yield a run cut into pieces of as many elements as vectors have, the largest first; a single one is left."""
    start = 0
    while start < len(offsets):
        left = len(offsets) - start
        count = next((n // elements for n in COUNTS if 1 < n // elements <= left), 1)
        if count > 1:
            yield offsets[start : start + count]
        start += count


# Calls of OpenCL's `vloadn` and `vstoren`, as clang writes them.
#
#     vload4(0, p)        call spir_func <4 x float> @_Z6vload4mPU3AS1Kf(i64 0, ptr addrspace(1) %p)
#     vstore4(v, 0, p)    call spir_func void @_Z7vstore4Dv4_fmPU3AS1f(<4 x float> %v, i64 0, ptr addrspace(1) %p)
#
# They need no better alignment than that of an element (OpenCL C 3.0 specification, 6.15.8).

COUNTS = (16, 8, 4, 2)
# What clang says of the two functions in `opencl-c.h`.
LOADING = "nounwind willreturn memory(read)"
STORING = "nounwind willreturn"


def vector_load(type_: VectorType, space: int, size_type: IntegerType, *, is_unsigned: bool) -> Callee:
    """Return `vloadn`.

    Args:
        type_: the vector; its element one of those of `is_element`.
        space: the address space, SPIR's number.
        size_type: of `size_t`, the type of an index.
        is_unsigned: whether the source calls the elements unsigned; LLVM's types don't say.
    """
    element = mangled_type(type_.element, is_unsigned=is_unsigned)
    parameters = f"{mangled_type(size_type, is_unsigned=True)}PU3AS{space}K{element}"
    name = mangled_name(f"vload{type_.count}", parameters)
    return Callee(name, f"declare spir_func {type_} @{name}({size_type}, {PointerType(space)}) {LOADING}")


def vector_store(type_: VectorType, space: int, size_type: IntegerType, *, is_unsigned: bool) -> Callee:
    """Return `vstoren`, as `vector_load` does `vloadn`."""
    vector, element = (mangled_type(each, is_unsigned=is_unsigned) for each in (type_, type_.element))
    size = mangled_type(size_type, is_unsigned=True)
    name = mangled_name(f"vstore{type_.count}", f"{vector}{size}PU3AS{space}{element}")
    return Callee(name, f"declare spir_func void @{name}({type_}, {size_type}, {PointerType(space)}) {STORING}")


def is_element(type_: Type) -> bool:
    """Return True if there are builtins for vectors of it on every device that has the type: not for half."""
    if isinstance(type_, FloatType):
        return type_.kind in ("float", "double")
    return isinstance(type_, IntegerType) and type_.width in INTEGER_CODES
