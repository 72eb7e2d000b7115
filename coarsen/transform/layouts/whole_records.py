"""Copies, and accesses that reach over several fields, split into one access for each field.

    memcpy(%copy, %bodies[i], 24)      →   load and store x, tag, mass, kind; padding is not copied
    memset(%bodies[i], 0, 24)          →   store 0 to each
    %v = load i64, over two of 4 bytes →   %v = zext(low) | zext(high) << 32

Accesses to padding that only copy it are found first. Of a copy all is loaded before anything is stored, so that
it may overlap. Bytes that are padding have no value on which a program could rely: they are zero where a number is
made of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from coarsen.errors import RefusalError
from coarsen.ir.graph.builder import Builder, number
from coarsen.ir.graph.details import Access, CallSite, Opcode
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.operands import Named, Operand
from coarsen.ir.types import FloatType, IntegerType, Type, VectorType, alignment_of, content_bytes
from coarsen.transform.layouts.elements import Place, Places
from coarsen.transform.layouts.positions import Addresses, Piece, Target, pieces_of
from coarsen.transform.names import own
from coarsen.transform.prologue import INDEX

# As much as one number has, in bytes.
_LONGEST_WORD = 8
# A copy of more words than that would be a loop.
_MOST_WORDS = 256
_BITS = 8


@dataclass(frozen=True)
class LaidSide:
    """One side of a copy: bytes of an element of an array that lies otherwise."""

    target: Target
    place: Place
    pieces: Sequence[Piece]

    @property
    def start(self) -> int:
        """The first byte, from the record's start."""
        return self.place.constant % self.target.arrangement.record.size

    def spans(self) -> list[tuple[int, int]]:
        """Return the bytes that are of fields, from the start of the copy: first, and first after."""
        return [(piece.start - self.start, piece.start - self.start + piece.size) for piece in self.pieces]

    def piece(self, first: int, size: int) -> Piece:
        """Return the piece that some bytes of one field are."""
        start = self.start + first
        field = next(piece.field for piece in self.pieces if piece.start <= start < piece.start + piece.size)
        return Piece(field, start, size)

    def alignment(self, first: int) -> int:
        """Return what the address of a byte of a field is a multiple of."""
        return self.target.alignment(self.place, self.piece(first, 1))

    def word_type(self, first: int, last: int) -> Type | None:
        """Return the type of the field that some bytes are the whole of, if it is a number or a vector."""
        piece = self.piece(first, last - first)
        type_ = self.target.element.parts[piece.field]
        is_whole = (piece.start, piece.size) == (piece.field.offset, piece.field.size)
        is_word = isinstance(type_, IntegerType | FloatType | VectorType) and content_bytes(type_) == piece.size
        return type_ if is_whole and is_word else None

    def address(self, build: Builder, first: int, size: int) -> Operand:
        """Build the address of some bytes of one field."""
        return Addresses(build).address(self.target, self.place, self.piece(first, size))


@dataclass(frozen=True)
class PlainSide:
    """One side of a copy: memory that lies as it is written."""

    pointer: Operand
    known_alignment: int
    size: int

    def spans(self) -> list[tuple[int, int]]:
        """Return all of the bytes."""
        return [(0, self.size)]

    def alignment(self, first: int) -> int:
        """Return what the address of a byte is a multiple of."""
        common = math.gcd(self.known_alignment, first)
        return common & -common

    def word_type(self, first: int, last: int) -> Type | None:
        """Nothing is known of the content."""
        return None

    def address(self, build: Builder, first: int, size: int) -> Operand:
        """Build the address of a byte."""
        if not first:
            return self.pointer
        return build.element(IntegerType(_BITS), self.pointer, [number(INDEX, first)], own("laid"))


Side = LaidSide | PlainSide


def split_copy(copy: Instruction, laid: dict[int, tuple[Target, Place]]) -> None:
    """Replace a `memcpy` or `memmove` by copies of fields.

    Args:
        copy: with the target in slot 0, the source in slot 1.
        laid: the sides that are elements of arrays that lie otherwise, by their slots.

    Raises:
        RefusalError: `layout-mixed-types`, it is not a copy of the same fields, or one that can't be split.
    """
    size = _length(copy)
    to, source = (_side(copy, slot, laid, size) for slot in (0, 1))
    common = list(_common(to.spans(), source.spans()))
    if isinstance(to, LaidSide) and _total(common) != _total(to.spans()):
        raise _mixed(copy, "copies padding of one record to fields of another")
    words = [word for span in common for word in _words(span, to, source)]
    if len(words) > _MOST_WORDS:
        raise _mixed(copy, "copies too long a record")
    build = Builder.replacing(copy)
    loaded = [
        build.load(
            type_,
            source.address(build, first, content_bytes(type_)),
            own("field"),
            Access(source.alignment(first)),
        )
        for first, type_ in words
    ]
    for value, (first, type_) in zip(loaded, words, strict=True):
        build.store(value, to.address(build, first, content_bytes(type_)), Access(to.alignment(first)))
    copy.erase()


def split_fill(fill: Instruction, target: Target, place: Place) -> None:
    """Replace a `memset` by stores to fields. Raises RefusalError, as `split_copy`."""
    byte = fill.arguments[1].text
    if not byte.removeprefix("-").isdecimal():
        raise _mixed(fill, "is filled with bytes that are not constant")
    side = _laid_side(fill, target, place, _length(fill))
    words = [word for span in side.spans() for word in _words(span, side, side, integers=True)]
    if len(words) > _MOST_WORDS:
        raise _mixed(fill, "fills too long a record")
    build = Builder.replacing(fill)
    for first, type_ in words:
        size = content_bytes(type_)
        value = int.from_bytes(bytes([int(byte) % 2**_BITS]) * size, "little")
        build.store(number(type_, value), side.address(build, first, size), Access(side.alignment(first)))
    fill.erase()


def split_load(load: Instruction, target: Target, place: Place) -> Operand:
    """Replace a load that reaches over several fields; return by what. Raises RefusalError, as `split_copy`."""
    side, whole = _number_side(load, load.type, target, place)
    build = Builder.replacing(load)
    value: Operand = number(whole, 0)
    for first, last in side.spans():
        address = side.address(build, first, last - first)
        type_ = IntegerType(_BITS * (last - first))
        part: Operand = build.load(type_, address, own("part"), Access(side.alignment(first)))
        if part.type != whole:
            part = build.cast(Opcode.ZEXT, part, whole, own("part"))
        if first:
            part = build.binary(Opcode.SHL, part, number(whole, _BITS * first), own("part"))
        value = part if not value.is_local else build.binary(Opcode.OR, value, part, own("part"))
    if load.type != whole:
        value = build.cast(Opcode.BITCAST, value, load.type, own("part"))
    load.replace_all_uses(value)
    load.erase()
    return value


def split_store(store: Instruction, target: Target, place: Place) -> None:
    """Replace a store that reaches over several fields. Raises RefusalError, as `split_copy`."""
    side, whole = _number_side(store, store.operands[0].type, target, place)
    build = Builder.replacing(store)
    value = store.operands[0]
    if value.type != whole:
        value = build.cast(Opcode.BITCAST, value, whole, own("part"))
    for first, last in side.spans():
        part = build.binary(Opcode.LSHR, value, number(whole, _BITS * first), own("part")) if first else value
        if last - first < content_bytes(whole):
            part = build.cast(Opcode.TRUNC, part, IntegerType(_BITS * (last - first)), own("part"))
        build.store(part, side.address(build, first, last - first), Access(side.alignment(first)))
    store.erase()


def _number_side(access: Instruction, type_: Type, target: Target, place: Place) -> tuple[LaidSide, IntegerType]:
    """The bytes of an access over several fields, and the integer that they make up."""
    size = content_bytes(type_)
    if access.is_volatile or size > _LONGEST_WORD or not _is_power_of_two(size):
        raise _mixed(access, f"accesses {size} bytes that lie in several fields")
    side = _laid_side(access, target, place, size)
    for first, last in side.spans():
        if not _is_power_of_two(last - first) or side.alignment(first) < last - first:
            raise _mixed(access, "accesses parts of fields")
    if not side.pieces or _bits(type_) != _BITS * size:
        raise _mixed(access, "accesses padding")
    return side, IntegerType(_BITS * size)


def _bits(type_: Type) -> int:
    """The bits of a value of a type; 0 if there is no telling."""
    if isinstance(type_, VectorType):
        return type_.count * _bits(type_.element)
    if isinstance(type_, IntegerType):
        return type_.width
    return _BITS * content_bytes(type_) if isinstance(type_, FloatType) else 0


def _side(copy: Instruction, slot: int, laid: dict[int, tuple[Target, Place]], size: int) -> Side:
    if slot in laid:
        return _laid_side(copy, *laid[slot], size)
    assert isinstance(copy.detail, CallSite)
    return PlainSide(copy.operands[slot], copy.detail.argument_alignment(slot), size)


def _laid_side(instruction: Instruction, target: Target, place: Place, size: int) -> LaidSide:
    pieces = pieces_of(target, place, size)
    if place.inner:
        raise _mixed(instruction, "accesses several fields, or parts of them, that an index chooses")
    if pieces is None:
        raise _mixed(instruction, "reaches over the end of an element")
    return LaidSide(target, place, pieces)


def _length(instruction: Instruction) -> int:
    length = instruction.arguments[2].text
    if not length.isdecimal() or instruction.is_volatile:
        raise _mixed(instruction, "copies a number of bytes that is not constant, or is volatile")
    return int(length)


def _common(one: list[tuple[int, int]], other: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The bytes that are in spans of both, cut where either begins anew."""
    for first, last in one:
        for begin, end in other:
            if max(first, begin) < min(last, end):
                yield max(first, begin), min(last, end)


def _total(spans: list[tuple[int, int]]) -> int:
    return sum(last - first for first, last in spans)


def _words(span: tuple[int, int], one: Side, other: Side, *, integers: bool = False) -> Iterator[tuple[int, Type]]:
    """The numbers as which bytes of a field are copied: where each starts, and its type."""
    first, last = span
    known = one.word_type(first, last) or other.word_type(first, last)
    if (
        known is not None
        and not integers
        and alignment_of(known) <= min(one.alignment(first), other.alignment(first))
    ):
        yield first, known
        return
    while first < last:
        size = min(
            one.alignment(first), other.alignment(first), _LONGEST_WORD, 1 << ((last - first).bit_length() - 1)
        )
        yield first, IntegerType(_BITS * size)
        first += size


def _is_power_of_two(size: int) -> bool:
    return size > 0 and size & (size - 1) == 0


def _mixed(instruction: Instruction, what: str) -> RefusalError:
    return RefusalError("layout-mixed-types", f"an instruction {what}: it can't be split", instruction.position)


# Find accesses to padding that only copy it: a record that is copied through registers, its padding with it.
#
#     %p = load i8, %records[low] + 15      →   0
#     store i8 %p, %records[high] + 15      →   nothing
#
# LLVM makes these of `records[high] = records[low]`. What padding holds is no value on which a program could rely,
# and it has no place in another layout. An access that does more than copy from padding to padding of such arrays
# stays, and is refused, since bytes that other memory gives or gets may be somebody's data: what is loaded may go
# to left-out stores alone, what is stored may come from left-out loads alone, through `phi`, `select` and
# `freeze`.

_PASSED_ON = (Opcode.PHI, Opcode.SELECT, Opcode.FREEZE)
_NO_VALUE = ("undef", "poison")


def copied_padding(
    accesses: Mapping[Instruction, Places], targets: Mapping[Named, Target]
) -> frozenset[Instruction]:
    """Return the loads and stores of padding alone that only copy it.

    Args:
        accesses: to arrays that lie otherwise, with their places.
        targets: how these arrays lie.
    """
    found = frozenset(access for access, places in accesses.items() if _is_of_padding(access, places, targets))
    while True:
        kept = frozenset(access for access in found if _copies_within(access, found))
        if kept == found:
            return found
        found = kept


def _copies_within(access: Instruction, accesses: frozenset[Instruction]) -> bool:
    if access.opcode is Opcode.LOAD:
        return _goes_to_stores(access, accesses)
    return _comes_from_loads(access.operands[0], accesses)


def _is_of_padding(instruction: Instruction, places: Places, targets: Mapping[Named, Target]) -> bool:
    if instruction.opcode not in (Opcode.LOAD, Opcode.STORE) or instruction.is_volatile or instruction.is_atomic:
        return False
    ((_, place),) = places.items()
    type_ = instruction.type if instruction.opcode is Opcode.LOAD else instruction.operands[0].type
    if not isinstance(type_, IntegerType) or place.inner:
        return False
    return pieces_of(targets[place.array], place, content_bytes(type_)) == []


def _goes_to_stores(value: Instruction, stores: frozenset[Instruction]) -> bool:
    waiting, seen = [value], {value}
    while waiting:
        for use in waiting.pop().uses:
            user = use.user
            assert isinstance(user, Instruction)
            if user in stores and use.slot == 0:
                continue
            if user.opcode not in _PASSED_ON or (user.opcode is Opcode.SELECT and use.slot == 0):
                return False
            if user not in seen:
                seen.add(user)
                waiting.append(user)
    return True


def _comes_from_loads(value: Operand, loads: frozenset[Instruction]) -> bool:
    waiting: list[Operand] = [value]
    seen: set[Operand] = set()
    while waiting:
        source = waiting.pop()
        if source in seen or (not source.is_local and source.text in _NO_VALUE):
            continue
        seen.add(source)
        if not isinstance(source, Instruction):
            return False
        if source.opcode in _PASSED_ON:
            waiting += source.operands[1:] if source.opcode is Opcode.SELECT else source.operands
        elif source not in loads:
            return False
    return True
