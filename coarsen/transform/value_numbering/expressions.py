"""Keys of instructions: two with equal keys compute the same, wherever both stand.

    %i = load float, ptr addrspace(1) %p        (load, no flags, plain and aligned to 4, float, %p, memory's state)
    %z = icmp slt i32 %x, 1                     (icmp, no flags, slt, i1, %x, 1)

Operands are compared by identity, constants by what they say.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

from coarsen.analysis.memory_effects import EffectsOfKernel
from coarsen.ir.graph.details import CallSite, Detail, Opcode, is_shown
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.operands import Operand
from coarsen.ir.types import Type
from coarsen.transform.value_numbering.surely_defined import Dominance, SurelyDefined

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


# Values that may stand for later ones, found by what they compute.

# Of those with one key, the last ones are looked at, so that a kernel of many blocks takes no longer for each.
_MAXIMUM_LEADERS = 8


class Leader(NamedTuple):
    """A value that may stand for later ones: its block's name, and whether overflow makes it poison."""

    value: Instruction
    block: str
    may_be_poison: bool = False


class Leaders:
    """The leaders under each key, in the order in which they were met."""

    def __init__(self, dominance: Dominance, defined: SurelyDefined) -> None:
        self._dominance = dominance
        self._defined = defined
        self._leaders: dict[Key, list[Leader]] = {}

    def find(self, key: Key, block: str) -> Instruction | None:
        """Return the value that is known under a key and that may be used in a block."""
        known = self._leaders.get(key)
        if known is None:
            return None
        for leader in known[-_MAXIMUM_LEADERS:]:
            if self._dominance.may_use(block, leader.block) and (
                not leader.may_be_poison or self._defined.is_defined(leader.value, block)
            ):
                return leader.value
        return None

    def find_all(self, key: Key, block: str) -> list[Instruction]:
        """Return the values under a key that may be used in a block, whether or not they may be poison."""
        leaders = self._leaders.get(key, ())[-_MAXIMUM_LEADERS:]
        return [leader.value for leader in leaders if self._dominance.may_use(block, leader.block)]

    def follow(self, key: Key, value: Instruction, block: str, may_be_poison: bool = False) -> None:
        """Let a value of a block be found under a key."""
        self._leaders.setdefault(key, []).append(Leader(value, block, may_be_poison))
