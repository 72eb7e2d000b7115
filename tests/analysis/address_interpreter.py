"""Addresses of a kernel without branches, computed instruction by instruction for one work-item."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from coarsen.ir.graph.instruction import Instruction, source_element_type
from coarsen.ir.graph.operands import Operand, ValueKind
from coarsen.ir.kernel import Kernel
from coarsen.ir.opencl.queries import builtin_name
from coarsen.ir.types import FloatType, IntegerType

_ELEMENT_BYTES = {"float": 4, "i32": 4, "i64": 8, "i8": 1}


@dataclass(frozen=True)
class WorkItem:
    """Where a work-item stands, and the values of the arguments, pointers included."""

    group: tuple[int, ...]
    local: tuple[int, ...]
    local_size: tuple[int, ...]
    arguments: Mapping[str, int]

    def moved(self, dimension: int, distance: int) -> WorkItem:
        """Another work-item of the same group."""
        place = [c + distance * (d == dimension) for d, c in enumerate(self.local)]
        return replace(self, local=tuple(place))

    def query(self, name: str, dimension: int) -> int:
        """What a query of the NDRange gives."""
        return {
            "get_group_id": self.group[dimension],
            "get_local_id": self.local[dimension],
            "get_local_size": self.local_size[dimension],
            "get_global_offset": 0,
            "get_global_id": self.group[dimension] * self.local_size[dimension] + self.local[dimension],
        }[name]


def address(kernel: Kernel, instruction: Instruction, item: WorkItem) -> int:
    """The address that a load or store goes to."""
    pointer = instruction.operands[1 if instruction.opcode == "store" else 0]
    return _value(kernel, pointer, item)


def _value(kernel: Kernel, value: Operand, item: WorkItem) -> int:
    if value.kind is ValueKind.ARGUMENT:
        return item.arguments[value.text]
    if value.kind is ValueKind.CONSTANT:
        return int(value.text)
    return _result(kernel, kernel.definition[value.text], item)


def _result(kernel: Kernel, instruction: Instruction, item: WorkItem) -> int:
    if instruction.opcode == "call":
        return item.query(builtin_name(instruction.callee), int(instruction.arguments[0].text))
    values = [_value(kernel, operand, item) for operand in instruction.operands]
    if instruction.opcode == "getelementptr":
        return values[0] + values[1] * _size(instruction)
    return _wrapped(_computed(instruction.opcode, values), instruction)


def _computed(opcode: str, values: list[int]) -> int:
    first, second = values[0], values[-1]
    if opcode in ("sdiv", "udiv"):
        return _quotient(first, second)
    if opcode in ("srem", "urem"):
        return first - second * _quotient(first, second)
    return {
        "add": first + second,
        "sub": first - second,
        "mul": first * second,
        "shl": first << max(0, min(second, 63)),
        "ashr": first >> max(0, min(second, 63)),
        "and": first & second,
        "or": first | second,
        "xor": first ^ second,
        "sext": first,
        "zext": first,
        "trunc": first,
    }[opcode]


def _quotient(first: int, second: int) -> int:
    """The quotient, rounded towards 0."""
    size = abs(first) // abs(second)
    return size if (first < 0) == (second < 0) else -size


def _wrapped(number: int, instruction: Instruction) -> int:
    """A number as the result's type holds it, with a sign."""
    assert isinstance(instruction.type, IntegerType)
    half = 1 << (instruction.type.width - 1)
    return (number + half) % (2 * half) - half


def _size(instruction: Instruction) -> int:
    type_ = source_element_type(instruction)
    assert isinstance(type_, IntegerType | FloatType)
    return _ELEMENT_BYTES[str(type_)]
