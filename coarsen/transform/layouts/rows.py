"""An array of rows in local memory as it is declared, and as it lies where its rows are padded or permuted.

local float tile[16][16]          rows of 16 elements of 4 bytes; pad 1: rows of 17
local int counts[4][4][5]         16 rows of 5
local float flat[256]             rows of 16 if its shape is given as 16,16, or if all its indices step over
                                  rows of 16: flat[y * 16 + x]
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from coarsen.base.names import did_you_mean
from coarsen.errors import InvalidInputError, RefusalError, SourcePosition
from coarsen.ir.graph.details import Opcode
from coarsen.ir.graph.instruction import Instruction, users
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.operands import Variable
from coarsen.ir.graph.variables import global_variable
from coarsen.ir.types import AddressSpace, ArrayType, Type, size_of
from coarsen.transform.layouts.elements import called
from coarsen.variant.placement import BANK_BYTES, NO_PAD, Pad, PadKind, RowPermutation, row_permutation

_SHIFTED = 63  # the most that a number is shifted by
# What a sum of rows and columns is made of.
_SUMS = (Opcode.ADD, Opcode.OR, Opcode.SUB, Opcode.SEXT, Opcode.ZEXT, Opcode.TRUNC, Opcode.PHI)


@dataclass(frozen=True)
class Rows:
    """An array of rows.

    Attributes:
        variable: that it is.
        type: as it is declared.
        count: of the rows.
        length: of each, in elements.
        element: LLVM's type of an element.
        pad: what is done to the rows.
    """

    variable: Variable
    type: Type
    count: int
    length: int
    element: Type
    pad: Pad

    @property
    def name(self) -> str:
        """The name in the source."""
        return called(self.variable)

    @property
    def element_bytes(self) -> int:
        """From one element to the next."""
        return size_of(self.element)

    @property
    def row_bytes(self) -> int:
        """Of a row as it is declared."""
        return self.length * self.element_bytes

    @property
    def pitch(self) -> int:
        """From one row to the next, in elements."""
        return self.length + self.pad.elements

    @property
    def laid_type(self) -> ArrayType:
        """The type with its pad: an array of rows."""
        return ArrayType(self.count, ArrayType(self.pitch, self.element))

    def permutation(self, access_bytes: int) -> RowPermutation:
        """Return the permutation of a row's units, given the longest access.

        Raises:
            InvalidInputError: rows are no power of two of units.
        """
        if self.element_bytes & (self.element_bytes - 1):
            raise InvalidInputError(
                f"the elements of {self.name} have {self.element_bytes} bytes, no power of two, so that xor would"
                " part them: give a number of elements"
            )
        longest = max(BANK_BYTES, self.element_bytes, access_bytes)
        unit = 1 << (longest - 1).bit_length()
        found = row_permutation(self.row_bytes, unit)
        if found is None:
            raise InvalidInputError(
                f"the rows of {self.name}, of {self.length} elements of {self.element_bytes} bytes, are no power"
                f" of two of units of {unit} bytes, as xor needs: give a number of elements"
            )
        return found


def rows_of(module: Module, kernel: str, name: str, pad: Pad, shape: tuple[int, ...] | None) -> Rows:
    """Return the array of rows that a kernel declares under a name.

    Args:
        module: that has the kernel.
        kernel: its name.
        name: of the array in the source.
        pad: of its rows.
        shape: the rows and their length; None where the declaration says them.

    Raises:
        InvalidInputError: there is no such array, its element has no size, or it has another shape.
        RefusalError: `layout-shape-unknown`, it has one dimension, no shape is given, and its indices do not agree
            on the length of a row.
    """
    variable = _variable(module, kernel, name)
    type_ = global_variable(variable, module.structures).value_type
    extents, element = _extents(type_)
    if not extents or not size_of(element):
        raise InvalidInputError(f"{name} is no array")
    if shape is not None:
        extents = _shaped(name, extents, shape)
    if len(extents) == 1:
        length = _stepped_over(variable, extents[0])
        extents = (extents[0] // length, length)
    return Rows(variable, type_, math.prod(extents[:-1]), extents[-1], element, pad)


def _variable(module: Module, kernel: str, name: str) -> Variable:
    local = {
        called(variable): variable
        for variable in module.variables.values()
        if variable.address_space == AddressSpace.LOCAL and variable.name.startswith(f"{kernel}.")
    }
    if name not in local:
        raise InvalidInputError(f"the kernel {kernel} has no static local array {name}{did_you_mean(name, local)}")
    return local[name]


def _extents(type_: Type) -> tuple[tuple[int, ...], Type]:
    extents: list[int] = []
    while isinstance(type_, ArrayType):
        extents.append(type_.count)
        type_ = type_.element
    return tuple(extents), type_


def _shaped(name: str, declared: tuple[int, ...], shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that was given, if the array can have it."""
    if math.prod(shape) != math.prod(declared) or (len(declared) > 1 and shape != declared):
        declaration = "".join(f"[{extent}]" for extent in declared)
        raise InvalidInputError(f"{name}{declaration} can't have the shape {','.join(map(str, shape))}")
    return shape


def _stepped_over(variable: Variable, count: int) -> int:
    """Return the length of the rows that all indices of an array of one dimension step over: 16 of `y * 16 + x`.

    Each element has one place whatever the length is (`pad.py`): here it is found out what is fast.
    """
    lengths = sorted({length for length in _multipliers(variable) if 1 < length < count and count % length == 0})
    if len(lengths) == 1:
        return lengths[0]
    name = called(variable)
    found = (
        f"its indices step over rows of {', '.join(map(str, lengths))}" if lengths else "no index steps over rows"
    )
    example = lengths[0] if lengths else math.gcd(count, 16)
    reason = (
        f"how long the rows of {name} are is not known ({found}): give its shape, as in "
        f"--shape {name}={count // example},{example}"
    )
    raise RefusalError("layout-shape-unknown", reason, _first_use(variable))


def _multipliers(variable: Variable) -> Iterator[int]:
    """Yield the constants that indices of an array multiply by, outermost ones alone."""
    pending = [
        operand for user in users(variable) if user.opcode is Opcode.GETELEMENTPTR for operand in user.operands[1:]
    ]
    seen: set[int] = set()
    while pending:
        value = pending.pop()
        if not isinstance(value, Instruction) or id(value) in seen:
            continue
        seen.add(id(value))
        if value.opcode in _SUMS:
            pending += value.operands
        elif value.opcode in (Opcode.MUL, Opcode.SHL):
            constant = value.operands[1].number
            if constant is not None:
                yield 1 << (constant & _SHIFTED) if value.opcode is Opcode.SHL else constant


def _first_use(variable: Variable) -> SourcePosition | None:
    return next((user.position for user in users(variable) if user.position is not None), None)


def is_padded(pad: Pad) -> bool:
    """Return True if a pad changes anything. Raises InvalidInputError for one that a device is to choose."""
    if pad.kind is PadKind.AUTO:
        raise InvalidInputError("a pad 'auto' is chosen for a device (coarsen.cost.pads)")
    return pad != NO_PAD
