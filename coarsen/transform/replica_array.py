"""A private array with an element for each replica, written by index, also one that is known only at run time."""

from __future__ import annotations

from coarsen.ir.graph.builder import Builder, number
from coarsen.ir.graph.display_name import Derivation, NewName
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.opcode import Opcode
from coarsen.ir.graph.operands import Operand
from coarsen.ir.types import ArrayType, FloatType, IntegerType, Type, VectorType
from coarsen.transform.names import NameSupply

_TRUTH, _BYTE, _INDEX = IntegerType(1), IntegerType(8), IntegerType(32)


def can_be_kept(type_: Type) -> bool:
    """Return True if an array can hold values of a type: numbers and vectors of them, not pointers or the like."""
    element = type_.element if isinstance(type_, VectorType) else type_
    if isinstance(type_, VectorType) and element == _TRUTH:
        return False
    return isinstance(element, IntegerType | FloatType)


class ReplicaArray:
    """A private array of values of one type; truth values are kept as bytes.

    Args:
        build: puts what reserves the array at the kernel's start.
        name: of the array, free in the kernel.
        type_: of the values; one that can be kept.
        count: the number of values.
        supply: names that are free in the kernel.
    """

    def __init__(self, build: Builder, name: NewName, type_: Type, count: int, supply: NameSupply) -> None:
        self._type = type_
        self._kept = _BYTE if type_ == _TRUTH else type_
        self._array = ArrayType(count, self._kept)
        self._supply = supply
        self._variable = build.allocate(self._array, name)

    def store(self, build: Builder, value: Operand, index: Operand) -> None:
        """Store a value at an index, a 32-bit integer."""
        if self._type == _TRUTH:
            value = build.cast(Opcode.ZEXT, value, _BYTE, self._derived(Derivation.BYTE))
        build.store(value, self._place(build, index))

    def load(self, build: Builder, index: Operand, name: NewName) -> Instruction:
        """Load the value at an index, a 32-bit integer, under a name."""
        place = self._place(build, index)
        if self._type != _TRUTH:
            return build.load(self._kept, place, name)
        byte = build.load(_BYTE, place, self._derived(Derivation.BYTE))
        return build.cast(Opcode.TRUNC, byte, _TRUTH, name)

    def _place(self, build: Builder, index: Operand) -> Instruction:
        indices = [number(_INDEX, 0), index]
        return build.element(self._array, self._variable, indices, self._derived(Derivation.PLACE))

    def _derived(self, derivation: Derivation) -> NewName:
        return self._supply.derived(self._variable, derivation)
