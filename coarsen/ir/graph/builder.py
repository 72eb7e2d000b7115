"""The one maker of instructions: puts them at a place in a function, each with its origin and its type."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from coarsen.errors import InternalError
from coarsen.ir.graph.details import (
    Access,
    Allocation,
    CallSite,
    Comparison,
    Detail,
    ElementAddress,
    Indices,
    Mask,
    Opcode,
)
from coarsen.ir.graph.display_name import NewName
from coarsen.ir.graph.instruction import Block, Instruction
from coarsen.ir.graph.operands import Callee, Constant, Operand
from coarsen.ir.graph.origin import Origin, Role
from coarsen.ir.types import (
    ArrayType,
    FloatType,
    IntegerType,
    PointerType,
    StructType,
    Type,
    VectorType,
    VoidType,
    scalar,
)

_VOID = VoidType()
_PLAIN = Access()


class Builder:
    """Makes instructions and puts them one after the other at a place.

    Names that are given may be wishes (`names.py`); after a mere spelling, a reader calls what is made as `origin`
    says. Types of operands must fit; LLVM verifies it later.

    Attributes:
        origin: of what is made.
    """

    def __init__(self, block: Block, origin: Origin) -> None:
        """Build at the end of a block."""
        self.origin = origin
        self._block = block
        self._index: int | None = None

    @classmethod
    def replacing(cls, instruction: Instruction) -> Builder:
        """Return a builder of what stands in for an instruction: before it, with its origin."""
        assert instruction.block is not None
        return cls(instruction.block, instruction.origin).before(instruction)

    @property
    def block(self) -> Block:
        """The block in which the place is."""
        return self._block

    def at_end(self, block: Block) -> Builder:
        """Go on at the end of a block, and return the builder."""
        self._block, self._index = block, None
        return self

    def at_start(self, block: Block) -> Builder:
        """Go on at the start of a block, after its phis, and return the builder."""
        self._block, self._index = block, len(block.phis)
        return self

    def before(self, instruction: Instruction) -> Builder:
        """Go on before an instruction that stands in a block, and return the builder."""
        assert instruction.block is not None
        self._block, self._index = instruction.block, instruction.block.instructions.index(instruction)
        return self

    def after(self, instruction: Instruction) -> Builder:
        """Go on after an instruction that stands in a block, and return the builder."""
        self.before(instruction)
        self._index = None if self._index is None else self._index + 1
        return self

    @contextmanager
    def making(self, role: Role, replica: int | None = None) -> Iterator[None]:
        """Give what is made meanwhile another role, and another replica."""
        before = self.origin
        self.origin = replace(before, role=role, replica=replica)
        try:
            yield
        finally:
            self.origin = before

    def insert(self, instruction: Instruction) -> Instruction:
        """Put an instruction that stands nowhere at the place, and give it back."""
        if self._index is None:
            return self._block.append(instruction)
        self._index += 1
        return self._block.insert(self._index - 1, instruction)

    # Arithmetic.

    def binary(
        self, opcode: Opcode, left: Operand, right: Operand, name: str | NewName, flags: tuple[str, ...] = ()
    ) -> Instruction:
        """Make an operation on two values of one type."""
        return self._made(opcode, left.type, [left, right], name, flags=flags)

    def compare(self, predicate: str, left: Operand, right: Operand, name: str | NewName) -> Instruction:
        """Make a comparison of two values of one type."""
        opcode = Opcode.FCMP if isinstance(scalar(left.type), FloatType) else Opcode.ICMP
        return self._made(opcode, compared(left.type), [left, right], name, detail=Comparison(predicate))

    def cast(self, opcode: Opcode, value: Operand, type_: Type, name: str | NewName) -> Instruction:
        """Make a conversion."""
        return self._made(opcode, type_, [value], name)

    def select(self, condition: Operand, true: Operand, false: Operand, name: str | NewName) -> Instruction:
        """Make a choice between two values of one type."""
        return self._made(Opcode.SELECT, true.type, [condition, true, false], name)

    # Memory.

    def allocate(self, type_: Type, name: str | NewName) -> Instruction:
        """Reserve private memory."""
        return self._made(Opcode.ALLOCA, PointerType(0), [], name, detail=Allocation(type_))

    def element(
        self, source_type: Type, pointer: Operand, indices: Sequence[Operand], name: str | NewName
    ) -> Instruction:
        """Compute the address of an element inside of a memory object."""
        type_ = pointer_like([pointer.type, *(index.type for index in indices)])
        detail = ElementAddress(source_type)
        operands = [pointer, *indices]
        return self._made(Opcode.GETELEMENTPTR, type_, operands, name, flags=("inbounds",), detail=detail)

    def load(self, type_: Type, pointer: Operand, name: str | NewName, access: Access = _PLAIN) -> Instruction:
        """Load a value."""
        return self._made(Opcode.LOAD, type_, [pointer], name, detail=access)

    def store(self, value: Operand, pointer: Operand, access: Access = _PLAIN) -> Instruction:
        """Store a value."""
        return self._made(Opcode.STORE, _VOID, [value, pointer], "", detail=access)

    # Vectors.

    def extract_element(self, vector: Operand, index: Operand, name: str | NewName) -> Instruction:
        """Take an element out of a vector."""
        return self._made(Opcode.EXTRACTELEMENT, element_of(vector.type), [vector, index], name)

    def insert_element(self, vector: Operand, value: Operand, index: Operand, name: str | NewName) -> Instruction:
        """Put an element into a vector."""
        return self._made(Opcode.INSERTELEMENT, vector.type, [vector, value, index], name)

    def shuffle(
        self, left: Operand, right: Operand, mask: Sequence[int | None], name: str | NewName
    ) -> Instruction:
        """Make a vector of elements of two."""
        type_ = VectorType(len(mask), element_of(left.type))
        return self._made(Opcode.SHUFFLEVECTOR, type_, [left, right], name, detail=Mask(tuple(mask)))

    # Calls and control.

    def call(
        self,
        callee: Callee,
        type_: Type,
        arguments: Sequence[Operand],
        name: str | NewName = "",
        attributes: str = "",
    ) -> Instruction:
        """Call a function of OpenCL's convention; `attributes` are those of the call, as spelled."""
        site = CallSite(convention="spir_func", attributes=f" {attributes}" if attributes else "")
        return self._made(Opcode.CALL, type_, [*arguments, callee], name, detail=site)

    def phi(self, type_: Type, incoming: Sequence[tuple[Operand, Block]], name: str | NewName) -> Instruction:
        """Make a phi; it may get further sources later."""
        values, blocks = [value for value, _ in incoming], [block for _, block in incoming]
        return self._made(Opcode.PHI, type_, values, name, blocks=blocks)

    def branch(self, target: Block) -> Instruction:
        """Go on at a block."""
        return self._made(Opcode.BR, _VOID, [], "", blocks=[target])

    def branch_if(self, condition: Operand, true: Block, false: Block) -> Instruction:
        """Go on at one of two blocks."""
        return self._made(Opcode.BR, _VOID, [condition], "", blocks=[true, false])

    def return_nothing(self) -> Instruction:
        """Leave the function."""
        return self._made(Opcode.RET, _VOID, [], "")

    def _made(
        self,
        opcode: Opcode,
        type_: Type,
        operands: Sequence[Operand],
        name: str | NewName,
        *,
        blocks: Sequence[Block] = (),
        flags: tuple[str, ...] = (),
        detail: Detail = None,
    ) -> Instruction:
        origin = self.origin
        if isinstance(name, NewName):
            origin = origin.called(name.display)
            name = name.spelling
        made = Instruction(opcode, type_, operands, name, blocks=blocks, flags=flags, detail=detail, origin=origin)
        return self.insert(made)


def number(type_: Type, value: int) -> Constant:
    """Return an integer constant, wrapped around as its type demands."""
    width = getattr(type_, "width", 64)
    wrapped = (value + 2 ** (width - 1)) % 2**width - 2 ** (width - 1)
    return Constant(type_, ("true" if wrapped else "false") if width == 1 else str(wrapped))


def poison(type_: Type) -> Constant:
    """Return the value of which nothing is known."""
    return Constant(type_, "poison")


# The type of an instruction's result, by those of its operands.

_ELEMENT = re.compile(r"i32 (-?\d+|poison|undef)")


def compared(type_: Type) -> Type:
    """Return the type of a comparison of two values: one bit, or a vector of them."""
    return VectorType(type_.count, IntegerType(1)) if isinstance(type_, VectorType) else IntegerType(1)


def element_of(type_: Type) -> Type:
    """Return the type of a vector's element. Raises InternalError if it is none."""
    if not isinstance(type_, VectorType):
        raise InternalError(f"'{type_}' is not a vector")
    return type_.element


def pointer_like(types: Iterable[Type]) -> Type:
    """Return the type of a `getelementptr`, by those of the base and the indices: a vector if one of them is."""
    base, *indices = types
    wide = next((index for index in indices if isinstance(index, VectorType)), None)
    return base if wide is None or isinstance(base, VectorType) else VectorType(wide.count, base)


def shuffled(vector: Type, mask: Operand) -> tuple[Type, Mask]:
    """Return the type of a `shufflevector`, and its mask as numbers."""
    if not isinstance(mask.type, VectorType):
        raise InternalError(f"'{mask.type}' is no mask")
    count = mask.type.count
    if mask.text == "zeroinitializer":
        elements: tuple[int | None, ...] = (0,) * count
    elif mask.text in ("poison", "undef"):
        elements = (None,) * count
    elif mask.text.startswith("splat"):
        elements = (int(_ELEMENT.findall(mask.text)[0]),) * count
    else:
        elements = tuple(int(e) if e[-1].isdigit() else None for e in _ELEMENT.findall(mask.text))
    return VectorType(count, element_of(vector)), Mask(elements)


def within(aggregate: Type, path: Indices) -> Type:
    """Return the type of what indices lead to in an aggregate. Raises InternalError if they lead nowhere."""
    found = aggregate
    for index in path.indices:
        if isinstance(found, StructType) and index < len(found.elements):
            found = found.elements[index]
        elif isinstance(found, ArrayType):
            found = found.element
        else:
            raise InternalError(f"'{aggregate}' has no element {path.indices}")
    return found
