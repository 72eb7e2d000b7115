"""Runs the integers of a kernel: bit by bit, and as whole numbers as long as nothing wraps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from coarsen.analysis.algebra.numbers import width_of
from coarsen.ir.graph.instruction import Instruction, predicate, source_element_type
from coarsen.ir.graph.operands import Operand, ValueKind
from coarsen.ir.kernel import Kernel
from coarsen.ir.types import size_of

_CASTS = {"sext", "zext", "trunc", "freeze"}
_SIGNED: Mapping[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "shl": lambda a, b: a << b,
    "ashr": lambda a, b: a >> b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
}
_UNSIGNED: Mapping[str, Callable[[int, int], int]] = {
    "udiv": lambda a, b: a // b,
    "urem": lambda a, b: a % b,
    "lshr": lambda a, b: a >> b,
}


@dataclass(frozen=True)
class Known:
    """A value's bits, and the whole number that it is where nothing wrapped on the way, with a sign."""

    bits: int
    whole: int | None


@dataclass
class Run:
    """A run of a kernel: each value as it was computed last, and how often loops have gone round.

    Args:
        kernel: of integers and addresses, whose loops end.
        arguments: the bits of its arguments.
    """

    kernel: Kernel
    arguments: Mapping[str, int]
    values: dict[str, Known] = field(default_factory=dict)
    iterations: dict[str, int] = field(default_factory=dict)

    def results(self) -> Iterator[Instruction]:
        """Yield each instruction with a result after it has run; the values are those of that moment."""
        before, block = "", self.kernel.blocks[0]
        while True:
            self.iterations[block.name] = self.iterations.get(block.name, -1) + 1
            taken = {phi.name: self._of(phi.operands[phi.incoming.index(before)]) for phi in block.phis}
            self.values.update(taken)
            for instruction in block.instructions:
                if instruction.name and instruction.opcode != "phi":
                    self.values[instruction.name] = self._computed(instruction)
                if instruction.name:
                    yield instruction
            targets = block.terminator.targets
            if not targets:
                return
            is_first = len(targets) == 1 or self._of(block.terminator.arguments[0]).bits == 1
            before, block = block.name, self.kernel.block[targets[0 if is_first else 1]]

    def _of(self, value: Operand) -> Known:
        if value.kind is ValueKind.INSTRUCTION:
            return self.values[value.text]
        if value.text in ("true", "false"):
            return Known(value.text == "true", value.text == "true")
        number = self.arguments[value.text] if value.kind is ValueKind.ARGUMENT else int(value.text)
        bits = number % (1 << width_of(value.type))
        return Known(bits, _signed(bits, value))

    def _computed(self, instruction: Instruction) -> Known:
        operands = [self._of(operand) for operand in instruction.operands]
        wholes = [operand.whole for operand in operands if operand.whole is not None]
        whole = self._whole(instruction, wholes) if len(wholes) == len(operands) else None
        bits = self._bits(instruction, [operand.bits for operand in operands])
        half = 1 << (width_of(instruction.type) - 1)
        is_held = whole is not None and -half <= whole < half
        return Known(bits % (2 * half), bits if instruction.opcode == "icmp" else whole if is_held else None)

    def _bits(self, instruction: Instruction, bits: list[int]) -> int:
        opcode = instruction.opcode
        own = [_signed(each, operand) for each, operand in zip(bits, instruction.operands, strict=True)]
        if opcode == "getelementptr":
            return bits[0] + own[1] * size_of(source_element_type(instruction))
        if opcode == "select":
            return bits[1] if bits[0] else bits[2]
        if opcode == "icmp":
            assert predicate(instruction) in ("ult", "slt", "eq")
            return int(bits[0] == bits[1] if predicate(instruction) == "eq" else bits[0] < bits[1])
        if opcode in _CASTS:
            return own[0] if opcode == "sext" else bits[0]
        return _SIGNED[opcode](own[0], bits[1]) if opcode in _SIGNED else _UNSIGNED[opcode](*bits)

    def _whole(self, instruction: Instruction, wholes: list[int]) -> int | None:
        opcode = instruction.opcode
        if opcode == "getelementptr":
            return wholes[0] + wholes[1] * size_of(source_element_type(instruction))
        if opcode == "select":
            return wholes[1] if wholes[0] else wholes[2]
        if opcode == "icmp" or (opcode == "sext" and width_of(instruction.operands[0].type) == 1):
            return None
        if opcode == "zext" or opcode in _UNSIGNED:
            if min(wholes) < 0:
                return None
            return wholes[0] if opcode == "zext" else _UNSIGNED[opcode](*wholes)
        return wholes[0] if opcode in _CASTS else _SIGNED[opcode](*wholes)


def _signed(bits: int, value: Operand) -> int:
    width = width_of(value.type)
    return bits - ((bits >> (width - 1)) << width)
