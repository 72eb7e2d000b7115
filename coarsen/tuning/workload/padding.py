"""The bytes of a kernel's buffers that hold padding: whatever a store leaves there is no result.

    float3 *o     o[i] = v               bytes 12 to 15 of every 16
    Holes *o      struct { char c; int i; }    bytes 1 to 3 of every 8
    float *o      *(float3 *)(o + 4 * i) = v   bytes 12 to 15 of every 16, by what the store writes
    float4 *o     vstore3, or a store to o[i].w anywhere    none

Padding is what the type of the argument leaves unused, and what a store writes without a value (the fourth
component of a vector of three, a copy of bytes that nobody set), as long as no store of the kernel gives it one.
Where it isn't known where a store goes, it may give any byte a value.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

import numpy as np

from coarsen.analysis.algebra.walk import address_steps
from coarsen.analysis.memory_effects import DERIVING
from coarsen.ir.graph.instruction import Instruction, shuffle_mask, source_element_type
from coarsen.ir.graph.operands import Operand
from coarsen.ir.kernel import Argument, Kernel, WrittenArgument
from coarsen.ir.types import (
    ArrayType,
    IntegerType,
    PointerType,
    StructType,
    Type,
    VectorType,
    content_bytes,
    field_offset,
    size_of,
)
from coarsen.tuning.workload.argument_use import (
    declared_type,
    derived_pointers,
    fields_of,
    numbers_of,
    pointer_uses,
    structure_of,
)

_UNDEFINED = ("undef", "poison")
_PASSED_ON = frozenset({"freeze", "phi"})
_NO_WRITE = DERIVING | {"load", "icmp"}
# The bytes of a larger copy are not looked at one by one.
_LARGEST = 1 << 16


def written_arguments(kernel: Kernel) -> tuple[WrittenArgument, ...]:
    """Return the pointer arguments through which a kernel may write, with the padding of what is there."""
    uses = pointer_uses(kernel)
    pointers = (
        (index, argument)
        for index, argument in enumerate(kernel.arguments)
        if isinstance(argument.type, PointerType) and uses[argument.name].may_be_written
    )
    found = (_Stores(kernel, argument).written(index) for index, argument in pointers)
    return tuple(each for each in found if each is not None)


@dataclass(frozen=True, slots=True)
class _Bytes:
    """Bytes `offsets` from the start of a buffer, or so far behind any multiple of `stride`; 0: nowhere else."""

    offsets: tuple[int, ...]
    stride: int

    def within(self, period: int) -> frozenset[int]:
        """Return the places that they may have in a period."""
        step = math.gcd(self.stride, period)
        return frozenset(place for offset in self.offsets for place in range(offset % step, period, step))


@dataclass(frozen=True, slots=True)
class _Store:
    """The places that a store gives a value, and that it leaves open, behind any multiple of `stride`.

    `between`: those of the former that lie between the fields of structures that are copied whole.
    """

    defined: tuple[int, ...]
    undefined: tuple[int, ...]
    between: tuple[int, ...]
    stride: int


class _Stores:
    """The stores of a kernel through one of its arguments."""

    def __init__(self, kernel: Kernel, argument: Argument) -> None:
        self._kernel = kernel
        self._argument = argument
        self._pointers = derived_pointers(kernel, argument.name)

    def written(self, index: int) -> WrittenArgument | None:
        """Return the argument with its padding; None where nothing is written through it."""
        without = WrittenArgument(self._kernel.name, index)
        stores = list(self._stores())
        known = [store for store in stores if store is not None]
        if not stores or len(known) < len(stores):
            return without if stores else None
        unused = _unused_bytes(self._kernel, self._argument)
        strides = (store.stride for store in known if store.undefined)
        period = math.gcd(*strides) if unused is None else unused.stride
        if not period:
            return without
        padding = set() if unused is None else set(unused.offsets)
        for store in known:
            if store.stride % period == 0:
                padding |= _Bytes(store.undefined, store.stride).within(period)
        for store in known:
            between = _Bytes(store.between, store.stride).within(period) & frozenset(
                unused.offsets if unused else ()
            )
            padding -= _Bytes(store.defined, store.stride).within(period) - between
        return replace(without, period=period, padding=tuple(sorted(padding))) if padding else without

    def _stores(self) -> Iterator[_Store | None]:
        """Yield what is written, None for what isn't known."""
        for instruction in self._kernel.instructions():
            if not any(operand.is_local and operand.text in self._pointers for operand in instruction.arguments):
                continue
            if instruction.opcode in _NO_WRITE or _is_copy_from(instruction, self._pointers):
                continue
            yield self._written_by(instruction)

    def _written_by(self, instruction: Instruction) -> _Store | None:
        """Return which bytes an instruction gives a value, and which it leaves open; None where it isn't known."""
        if instruction.opcode == "store":
            value, address = instruction.operands[:2]
            # A vector of three is stored as one of four, in OpenCL C.
            size = (size_of if isinstance(value.type, VectorType) else content_bytes)(value.type)
            undefined, between = set(_undefined_bytes(self._kernel, value)), set[int]()
        elif instruction.callee.startswith("llvm.memcpy") and instruction.arguments[2].number is not None:
            address, source = instruction.arguments[:2]
            size = instruction.arguments[2].number or 0
            undefined, between = self._open_in(source, size)
        else:
            return None
        place = self._place_of(address)
        if place is None or not 0 < size <= _LARGEST:
            return None
        start, stride = place
        defined = tuple(start + each for each in range(size) if each not in undefined)
        return _Store(defined, _shifted(undefined, start), _shifted(between, start), stride)

    def _place_of(self, address: Operand) -> tuple[int, int] | None:
        """Return an address as a number of bytes behind the argument, and a number that divides all else."""
        if address.text == self._argument.name:
            return 0, 0
        instruction = self._kernel.definition.get(address.text) if address.is_local else None
        if instruction is None:
            return None
        if instruction.opcode in ("addrspacecast", "bitcast", "freeze"):
            return self._place_of(instruction.operands[0])
        if instruction.opcode != "getelementptr":
            return None
        base = self._place_of(instruction.operands[0])
        if base is None:
            return None
        start, stride = base
        steps = address_steps(instruction)
        for step in steps or ():
            number = 1 if step.index is None else step.index.number
            start, stride = (
                (start, math.gcd(stride, step.bytes)) if number is None else (start + step.bytes * number, stride)
            )
        return None if steps is None else (start, stride)

    def _open_in(self, source: Operand, size: int) -> tuple[set[int], set[int]]:
        """Return which bytes of what is copied were never set, and which lie between its fields."""
        everything = set(range(size))
        type_ = self._copied_type(source)
        if type_ is None or size_of(type_) != size:
            return set(), set()
        between = everything - set(_content(type_, 0))
        if not self._is_variable(source):
            return set(), between
        if type_ == ArrayType(size, IntegerType(8)):
            between = everything  # what is left of a structure whose fields LLVM keeps in registers
        if self._is_never_set(source, set()):
            return everything, between
        is_taken_over = any(i.callee.startswith("llvm.mem") for i in self._writers(source))
        if is_taken_over or not isinstance(type_, StructType):
            return set(), between
        return everything - between - {
            place + byte
            for place, number in numbers_of(fields_of(self._kernel, type_))
            for byte in range(number.itemsize)
        }, between

    def _is_variable(self, pointer: Operand) -> bool:
        made = self._kernel.definition.get(pointer.text) if pointer.is_local else None
        return made is not None and made.opcode == "alloca"

    def _is_never_set(self, source: Operand, seen: set[str]) -> bool:
        """Return True for a variable of a work-item that is read as it was made, or gets nothing but such ones."""
        if source.text in seen:
            return True
        seen.add(source.text)
        return self._is_variable(source) and all(
            each.callee.startswith("llvm.memcpy") and self._is_never_set(each.arguments[1], seen)
            for each in self._writers(source)
        )

    def _writers(self, variable: Operand) -> list[Instruction]:
        """The instructions that may write a variable of a work-item."""
        users = [i for i in self._kernel.instructions() if any(o.is_local and o == variable for o in i.arguments)]
        return [
            each
            for each in users
            if not _is_copy_from(each, {variable.text}) and not each.callee.startswith("llvm.lifetime")
        ]

    def _copied_type(self, source: Operand) -> Type | None:
        """Return the type of what a pointer leads to; None where it isn't known."""
        made = self._kernel.definition.get(source.text) if source.is_local else None
        if made is not None and made.opcode == "alloca":
            return source_element_type(made)
        if made is not None and made.opcode == "getelementptr":
            return _addressed_type(made)
        arguments = (each for each in self._kernel.arguments if each.name == source.text)
        argument = next(arguments, None) if source.is_local else None
        return None if argument is None else structure_of(self._kernel, argument)


def _shifted(places: Collection[int], start: int) -> tuple[int, ...]:
    return tuple(start + each for each in places)


def _is_copy_from(instruction: Instruction, pointers: set[str]) -> bool:
    """Return True for a copy of memory that reads one of some pointers, and writes elsewhere."""
    return instruction.callee.startswith("llvm.memcpy") and instruction.arguments[0].text not in pointers


def _addressed_type(address: Instruction) -> Type:
    """Return the type of what an address computation leads to."""
    type_ = source_element_type(address)
    for index in address.operands[2:]:
        if isinstance(type_, StructType):
            type_ = type_.elements[index.number or 0]
        elif isinstance(type_, ArrayType | VectorType):
            type_ = type_.element
    return type_


def _content(type_: Type, start: int) -> Iterator[int]:
    """Yield the bytes of a type that belong to a number; of a union, all."""
    if isinstance(type_, StructType) and type_.elements and not type_.name.startswith("union."):
        for index, element in enumerate(type_.elements):
            yield from _content(element, start + field_offset(type_, index))
    elif isinstance(type_, ArrayType):
        for index in range(type_.count):
            yield from _content(type_.element, start + index * size_of(type_.element))
    else:
        size = size_of(type_) if isinstance(type_, StructType) else content_bytes(type_)
        yield from range(start, start + size)


def _undefined_bytes(kernel: Kernel, value: Operand) -> Iterator[int]:
    """Yield the bytes of a stored value that have none."""
    if not isinstance(value.type, VectorType):
        if _is_undefined(kernel, value, 0):
            yield from range(content_bytes(value.type))
        return
    size = content_bytes(value.type.element)
    for lane in range(value.type.count):
        if _is_undefined(kernel, value, lane):
            yield from range(lane * size, lane * size + size)
    yield from range(content_bytes(value.type), size_of(value.type))


def _is_undefined(kernel: Kernel, value: Operand, lane: int) -> bool:
    """Return True if no value reaches an element of a vector, or a number, along any path."""
    seen: set[tuple[str, int]] = set()
    waiting = [(value, lane)]
    while waiting:
        each, place = waiting.pop()
        if not each.is_local:
            if not _is_undefined_constant(each, place):
                return False
            continue
        if (each.text, place) in seen:
            continue
        seen.add((each.text, place))
        made = kernel.definition.get(each.text)
        sources = None if made is None else _sources(made, place)
        if sources is None:
            return False
        waiting += sources
    return True


def _sources(made: Instruction, lane: int) -> list[tuple[Operand, int]] | None:
    """Return where an element comes from; None where it is computed. Nothing is a source of what is undefined."""
    if made.opcode in _PASSED_ON:
        return [(operand, lane) for operand in made.operands]
    if made.opcode == "select":
        return [(operand, lane) for operand in made.operands[1:]]
    if made.opcode == "insertelement":
        vector, number, index = made.operands
        if index.number is None:
            return None
        return [(number, 0)] if index.number == lane else [(vector, lane)]
    if made.opcode == "shufflevector" and isinstance(made.operands[0].type, VectorType):
        chosen, count = shuffle_mask(made)[lane], made.operands[0].type.count
        if chosen is None:
            return []
        return [(made.operands[0], chosen) if chosen < count else (made.operands[1], chosen - count)]
    return None


def _is_undefined_constant(value: Operand, lane: int) -> bool:
    text = value.text
    if text.startswith("<"):
        text = text.strip("<>").split(", ")[lane]
    return text.endswith(_UNDEFINED)


def _unused_bytes(kernel: Kernel, argument: Argument) -> _Bytes | None:
    """Return the bytes of each element that the argument's type leaves unused; None where there are none."""
    declared = declared_type(argument)
    if declared is not None and declared.stored_components > declared.components:
        size = declared.byte_count
        used = np.dtype((declared.scalar, (declared.components,))).itemsize
        return _Bytes(tuple(range(used, size)), size)
    structure = structure_of(kernel, argument) if declared is None else None
    if structure is None:
        return None
    size = size_of(structure)
    unused = tuple(sorted(set(range(size)) - set(_content(structure, 0))))
    return _Bytes(unused, size) if unused else None
