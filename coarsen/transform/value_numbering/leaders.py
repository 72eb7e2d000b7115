"""Values that may stand for later ones, found by what they compute."""

from __future__ import annotations

from typing import NamedTuple

from coarsen.ir.graph.instruction import Instruction
from coarsen.transform.value_numbering.dominance import Dominance
from coarsen.transform.value_numbering.expressions import Key
from coarsen.transform.value_numbering.surely_defined import SurelyDefined

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
