"""Keys of instructions: two with equal keys compute the same, wherever both stand.

    %i = load float, ptr addrspace(1) %p        (load, no flags, plain and aligned to 4, float, %p, memory's state)
    %z = icmp slt i32 %x, 1                     (icmp, no flags, slt, i1, %x, 1)

Operands are compared by identity, constants by what they say.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from coarsen.analysis.memory_effects import EffectsOfKernel
from coarsen.ir.graph.details import CallSite, Detail, is_shown
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.opcode import Opcode
from coarsen.ir.graph.operands import Operand
from coarsen.ir.types import Type

Key = tuple[Hashable, ...]
# Hints for an optimiser, which have nothing to do with the result.
_TAILS = ("tail", "notail")
_NOT_UNDEFINED = "noundef"


class Expressions:
    """Finds the keys of a function's instructions, which stay as they are meanwhile.

    Args:
        effects: the judge of the instructions.
    """

    def __init__(self, effects: EffectsOfKernel) -> None:
        self._effects = effects
        self._numbers: dict[Hashable, int] = {}
        # By identity, which the instructions keep: copies have the details and types of their originals.
        self._number_of: dict[int, int] = {}

    def key(self, instruction: Instruction, operands: Sequence[Operand], memory: int) -> Key | None:
        """Return an instruction's key; None where two that look alike may differ in value.

        Args:
            instruction: with a result.
            operands: what now stands for its operands.
            memory: the state of memory where it stands (`memory_order.py`).
        """
        opcode = instruction.opcode
        if opcode is Opcode.LOAD:
            return None if is_shown(instruction.detail) else (*self._shape(instruction), *operands, memory)
        if opcode is Opcode.PHI:
            return (*self._shape(instruction), *operands, *instruction.blocks, instruction.block)
        if self._effects.is_function_of_operands(instruction):
            return (*self._shape(instruction), *operands)
        return None

    def _shape(self, instruction: Instruction) -> Key:
        """The part of a key that is not the operands."""
        numbers, detail, type_ = self._number_of, instruction.detail, instruction.type
        said, kind = numbers.get(id(detail)), numbers.get(id(type_))
        if said is None or kind is None:
            said, kind = self._number(detail), self._number(type_)
        return (instruction.opcode, instruction.flags, said, kind, instruction.attachments)

    def _number(self, said: Detail | Type) -> int:
        """A number for a detail or a type: keys are looked up more than once, and to hash those takes long."""
        number = self._number_of.get(id(said))
        if number is None:
            meant = _site(said) if isinstance(said, CallSite) else said
            number = self._number_of[id(said)] = self._numbers.setdefault(meant, len(self._numbers))
        return number


def _site(site: CallSite) -> Hashable:
    """The part that is a call's alone, without hints and the number of its group of attributes."""
    of_arguments = tuple(map(_significant, site.argument_attributes))
    return (
        "" if site.tail in _TAILS else site.tail,
        site.convention,
        _significant(site.result_attributes),
        site.signature,
        of_arguments if any(of_arguments) else (),
        _significant(site.attributes),
        site.bundles,
    )


def _significant(attributes: str) -> tuple[str, ...]:
    return tuple(word for word in attributes.split() if word != _NOT_UNDEFINED and not word.startswith("#"))
