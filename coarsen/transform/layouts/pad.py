"""Rewrite a kernel for static local arrays whose rows are padded, or permuted.

    before                                          after, tile=1
                                                    where %c is known to be below 16
    @k.tile = global [16 x [16 x float]]            @k.tile = global [16 x [17 x float]]
    %a = gep [16 x [16 x float]], @k.tile, 0, %r    %a = gep [16 x [17 x float]], @k.tile, 0, %r, %c
    %b = gep [16 x float], %a, 0, %c                %v = load float, %a
    %v = load float, %b
                                                    after, tile=xor: %c ^ (%r & 15) in place of %c

Why it is legal:

- **every access is known** (`elements.py`): an array of which an address is merged with others, compared, stored
  or passed on is refused, so that no access remains that finds the old places;
- **each element has one place**: element (r, c), 0 <= c < C, goes to r·(C + P) + c, which no other one goes to; or
  to r·C + (c ^ x), x made of the row's number alone and below C, a power of two of units: that permutes the row.
  So two accesses meet just where they met, atomic ones among them;
- **r and c are right**: an index that is known to be below the row's length is c; all others make the number e of
  elements from the start, which no step has wrapped (`inbounds`), and r = e / C, c = e mod C. An index that leaves
  its row, as in `tile[0][k]` over the whole array, finds the element that it found;
- **no access parts**: it is to one element, or to some of one row that are next to each other still;
- **alignment**: an access whose address may now be a multiple of less than it needs is refused.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from coarsen.base.names import did_you_mean
from coarsen.errors import InvalidInputError, RefusalError
from coarsen.ir.graph.builder import Builder, number
from coarsen.ir.graph.details import AtomicUpdate, CallSite, Opcode, access_of
from coarsen.ir.graph.display_name import NewName
from coarsen.ir.graph.instruction import Instruction, users
from coarsen.ir.graph.instruction_parser import parse_instruction
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.names import make_names_unique
from coarsen.ir.graph.operands import Constant, Operand, Variable
from coarsen.ir.graph.scanner import ValueParser
from coarsen.ir.graph.variables import global_variable
from coarsen.ir.kernel import Kernel
from coarsen.ir.types import (
    AddressSpace,
    ArrayType,
    IntegerType,
    Type,
    VectorType,
    alignment_of,
    content_bytes,
    size_of,
)
from coarsen.transform.layouts.elements import (
    Place,
    RewrittenArrays,
    accessed_type,
    called,
    is_copy,
    is_fill,
    is_vector_access,
    resolved_uses,
    stepped_by,
)
from coarsen.transform.layouts.indices import OperandArithmetic, is_zero
from coarsen.transform.prologue import INDEX
from coarsen.transform.value_numbering.sums import known_bits
from coarsen.variant.data_plan import ArrayPlan
from coarsen.variant.pads import BANK_BYTES, NO_PAD, Pad, PadKind, RowPermutation, row_permutation

_BYTE = IntegerType(8)


@dataclass(frozen=True)
class PaddedArray:
    """A local array as it lies: its name, what was done to its rows, and its bytes before and after."""

    name: str
    pad: str
    bytes_before: int
    bytes_after: int

    @property
    def sentence(self) -> str:
        """Return what was done."""
        if self.pad == PadKind.XOR:
            return f"the elements of each row of {self.name} are permuted: {self.bytes_after} bytes, as before"
        more = "1 element more" if self.pad == "1" else f"{self.pad} elements more"
        sizes = f"{self.bytes_after} bytes of local memory in place of {self.bytes_before}"
        return f"rows of {self.name} have {more}: {sizes}"


@dataclass(frozen=True)
class _Use:
    """An access, the slot of its address, where it goes, and how many bytes it touches."""

    instruction: Instruction
    slot: int
    place: Place
    size: int


def pad_arrays(kernel: Kernel, plans: Sequence[ArrayPlan]) -> RewrittenArrays:
    """Rewrite a kernel for static local arrays with pads.

    Args:
        kernel: in normal form, not yet coarsened.
        plans: those of local arrays, at most one for each.

    Raises:
        InvalidInputError: there is no such array; its rows can't be permuted.
        RefusalError: `layout-pointer-escapes`, `layout-mixed-types`, `layout-shape-unknown`.
    """
    module = kernel.editable_graph()
    if module.size_type != INDEX:
        raise InvalidInputError("pads are for kernels with addresses of 64 bits")
    padded: list[PaddedArray] = []
    for plan in plans:
        rows = rows_of(module, kernel.name, plan.argument, plan.pad, plan.shape)
        if plan.pad.kind is PadKind.AUTO:
            raise InvalidInputError("a pad 'auto' is chosen for a device (coarsen.cost.pads)")
        if plan.pad != NO_PAD:
            padded.append(PaddedArray(rows.name, str(rows.pad), size_of(rows.type), size_of(rows.laid_type)))
            _rewrite(module, rows)
    make_names_unique(module.function(kernel.name), module.structures)
    return RewrittenArrays(module, tuple(padded))


def _rewrite(module: Module, rows: Rows) -> None:
    expand_addresses(module, rows.variable, rows.name)
    uses = list(_uses(rows))
    permutation = None
    if rows.pad.kind is PadKind.XOR:
        permutation = rows.permutation(max((use.size for use in uses), default=0))
    for use in uses:
        _Rewriting(rows, use, permutation).carry_out()
    # After all accesses: the type is what the variable's address steps over nowhere any more.
    definition = rows.variable.definition.replace(f" {rows.type} ", f" {rows.laid_type} ", 1)
    assert definition != rows.variable.definition or rows.type == rows.laid_type
    rows.variable.definition = definition


def _uses(rows: Rows) -> Iterator[_Use]:
    for instruction, slot, place in resolved_uses(rows.variable, rows.element_bytes, vectors=True):
        if is_vector_access(instruction):
            # vloadn(index, pointer), vstoren(value, index, pointer)
            index, spaced = instruction.arguments[slot - 1], content_bytes(accessed_type(instruction))
            stepped = stepped_by(place, index, spaced, instruction, rows.element_bytes)
            yield _Use(instruction, slot, stepped, spaced)
        elif is_copy(instruction) or is_fill(instruction):
            length = instruction.arguments[2].text
            if not length.isdecimal():
                raise _mixed(instruction, f"copies a number of bytes of {rows.name} that is not constant")
            yield _Use(instruction, slot, place, int(length))
        else:
            yield _Use(instruction, slot, place, content_bytes(accessed_type(instruction)))


def _column_reach(rows: Rows, place: Place) -> int | None:
    """The last byte of a row to which the indices into it lead at most; None where one may lead further.

    C demands that `tile[0][k]` stays in row 0, but kernels fill whole arrays so: only what is known counts.
    """
    reach = place.constant % rows.row_bytes
    for value, scale in place.steps:
        if scale % rows.row_bytes:
            largest = _largest(value)
            if largest is None or scale < 0:
                return None
            reach += scale * largest
    return reach if reach < rows.row_bytes else None


class _Rewriting:
    """Gives one access its new address."""

    def __init__(self, rows: Rows, use: _Use, permutation: RowPermutation | None) -> None:
        self._rows, self._use, self._permutation = rows, use, permutation
        self._build = Builder.replacing(use.instruction)
        # Nameless for a reader: indices stand inside of an access.
        self._index = OperandArithmetic(self._build, name=NewName)
        steps = [
            scale // rows.element_bytes << known_bits(_narrow(value)).trailing_zeros
            for value, scale in use.place.steps
        ]
        # What the number of elements from the start is a multiple of, and the length of a row.
        self._grain = math.gcd(rows.length, use.place.constant // rows.element_bytes, *steps)
        if permutation is not None:
            self._grain = math.gcd(self._grain, permutation.unit_bytes // rows.element_bytes)

    def carry_out(self) -> None:
        """Build the address and let the access have it."""
        self._check_within()
        self._check_alignment()
        use = self._use
        use.instruction.set_operand(use.slot, self._address())
        if is_vector_access(use.instruction):
            index = use.instruction.operands[use.slot - 1]
            assert isinstance(index.type, IntegerType)
            use.instruction.set_operand(use.slot - 1, number(index.type, 0))

    def _check_within(self) -> None:
        place, size = self._use.place, self._rows.element_bytes
        inner = place.constant % size
        if inner + place.reach + self._use.size <= size:
            return
        if inner or place.inner or self._use.size > self._grain * size:
            raise _mixed(self._use.instruction, f"may access elements of two rows of {self._rows.name}")

    def _check_alignment(self) -> None:
        rows, place, instruction = self._rows, self._use.place, self._use.instruction
        scales = [scale for _, scale in place.inner]
        size = rows.element_bytes
        common = math.gcd(rows.pitch * size, self._grain * size, place.constant % size, *scales)
        if (common & -common) < self._wanted(instruction):
            raise _mixed(instruction, f"needs more alignment than the rows of {rows.name} have then")

    def _wanted(self, instruction: Instruction) -> int:
        if is_vector_access(instruction):
            type_ = accessed_type(instruction)
            assert isinstance(type_, VectorType)
            return alignment_of(type_.element)
        detail = instruction.detail
        if is_copy(instruction) or is_fill(instruction):
            assert isinstance(detail, CallSite)
            return detail.argument_alignment(self._use.slot)
        access = access_of(detail)
        natural = alignment_of(accessed_type(instruction))
        if access is None:
            return natural
        if not access.alignment:
            access = replace(access, alignment=natural)
            instruction.detail = replace(detail, access=access) if isinstance(detail, AtomicUpdate) else access
        return access.alignment

    def _address(self) -> Operand:
        rows, place = self._rows, self._use.place
        row, column = self._row_and_column()
        if self._permutation is not None:
            # The low bits of the row's number go into it, in units.
            chosen = self._index.computed(Opcode.AND, row, self._index.number(self._permutation.mask))
            moved = self._index.times(chosen, self._permutation.unit_bytes // rows.element_bytes)
            column = self._index.exclusive_or(column, moved)
        indices = [self._index.number(0), row, column]
        address: Operand = self._build.element(rows.laid_type, rows.variable, indices, NewName("laid"))
        for value, scale in place.inner:
            distance = self._index.times(self._index.wide(value), scale)
            address = self._build.element(_BYTE, address, [distance], NewName("laid"))
        inner = self._index.number(place.constant % rows.element_bytes)
        return address if is_zero(inner) else self._build.element(_BYTE, address, [inner], NewName("laid"))

    def _row_and_column(self) -> tuple[Operand, Operand]:
        rows, place, index = self._rows, self._use.place, self._index
        size, row_bytes = rows.element_bytes, rows.row_bytes
        if _column_reach(rows, place) is None:
            element = index.sum_of(place.steps, size, place.constant // size)
            return index.divided(element, rows.length), index.remainder(element, rows.length)
        along = [step for step in place.steps if step[1] % row_bytes == 0]
        within = [step for step in place.steps if step[1] % row_bytes]
        row = index.sum_of(along, row_bytes, place.constant // row_bytes)
        return row, index.sum_of(within, size, place.constant % row_bytes // size)


def _largest(value: Operand) -> int | None:
    """The largest that an index can be; None where it may be negative, or that isn't known."""
    bits = known_bits(_narrow(value))
    largest = bits.all & ~bits.zeros
    return largest if largest <= bits.all >> 1 else None


def _narrow(value: Operand) -> Operand:
    """The integer that an index is, its sign extended."""
    while isinstance(value, Instruction) and value.opcode is Opcode.SEXT:
        value = value.operands[0]
    return value


def _mixed(instruction: Instruction, what: str) -> RefusalError:
    return RefusalError("layout-mixed-types", f"an instruction {what}", instruction.position)


# Constant addresses in a variable, made instructions, so that all of its uses are followed alike.
#
# store float 1, getelementptr ([4 x [4 x float]], ptr @k.tile, i64 0, i64 1)
#
# %address = getelementptr [4 x [4 x float]], ptr @k.tile, i64 0, i64 1
# store float 1, ptr %address

_ADDRESS = "getelementptr "


def expand_addresses(module: Module, variable: Variable, called: str) -> None:
    """Replace constant expressions that name a variable by instructions before their users.

    Args:
        module: in which the variable is.
        variable: whose addresses they are.
        called: its name in the source.

    Raises:
        RefusalError: `layout-pointer-escapes`, an expression that is no address, or the operand of a phi.
    """
    waiting = list(variable.uses)
    while waiting:
        use = waiting.pop()
        user = use.user
        assert isinstance(user, Instruction)
        operand = user.operands[use.slot]
        if not isinstance(operand, Constant):
            continue
        if not operand.text.startswith(_ADDRESS) or user.opcode is Opcode.PHI:
            reason = f"an address in {called} is in a constant: only accesses to its elements can be rewritten"
            raise RefusalError("layout-pointer-escapes", reason, user.position)
        address = _expanded(module, operand, user)
        user.set_operand(use.slot, address)
        waiting += [inner for inner in variable.uses if inner.user is address]


def _expanded(module: Module, constant: Constant, user: Instruction) -> Instruction:
    """The instruction that computes what a constant expression says, before its user."""
    head, _, operands = constant.text.partition("(")
    values = ValueParser({**module.variables, **module.callees})
    line = f"%address = {head.rstrip()} {operands.removesuffix(')')}"
    address = parse_instruction(line, values, dict(module.structures))
    address.origin = user.origin
    return Builder.replacing(user).insert(address)


# An array of rows in local memory as it is declared, and as it lies where its rows are padded or permuted.
#
# local float tile[16][16]          rows of 16 elements of 4 bytes; pad 1: rows of 17
# local int counts[4][4][5]         16 rows of 5
# local float flat[256]             rows of 16 if its shape is given as 16,16, or if all its indices step over
#                                   rows of 16: flat[y * 16 + x]

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
    positions = (user.position for user in users(variable) if user.position is not None)
    raise RefusalError("layout-shape-unknown", reason, next(positions, None))


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
