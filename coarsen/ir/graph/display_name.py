"""How values are called for a reader: by the source's names, and by what transforms make of such values.

    sum                      DisplayName("sum")
    what is kept of it       DisplayName("sum", derivations=(Derivation.KEPT,))      written sum.kept

LLVM's name of a value (`Named.name`) is another thing: it is unique, and nothing is read from it.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace


class Derivation(enum.Enum):
    """What a value that a transform makes is to the value that it is called after; the word is put after a dot."""

    # In the value's place elsewhere: where it has no name of its own, neither has this.
    ALONE = "alone"
    OUT = "out"
    # Parts of votes.
    ALL = "all"
    ANY = "any"
    PARTIAL = "of"
    # Ids.
    COARSENED = "coarsened"
    ROW = "row"
    MATCHES = "matches"
    OTHER = "other"
    # Of the loop over replicas.
    AGAIN = "again"
    IS = "is"
    OFFSET = "offset"
    # Memory.
    KEPT = "kept"
    PLACE = "place"
    BYTE = "byte"
    BEFORE = "before"
    AFTER = "after"
    START = "start"
    WIDE = "wide"

    @property
    def is_a_stand_in(self) -> bool:
        """Return True for what is the same value elsewhere."""
        return self in (Derivation.ALONE, Derivation.OUT)


@dataclass(frozen=True, slots=True)
class DisplayName:
    """How a value is called for a reader.

    Attributes:
        base: the name that the source, or a transform, gives; empty for a value that the compiler made.
        number: by which values of one variable are told apart where a transform derives something of one.
        derivations: what the value is to the one of that name, the last made last.
    """

    base: str = ""
    number: str = ""
    derivations: tuple[Derivation, ...] = ()

    @property
    def text(self) -> str:
        """Return the name as it is written, with dots; empty where there is none."""
        if not self.derivations:
            return self.base
        return ".".join([f"{self.base}{self.number}", *(each.value for each in self.derivations)])

    def derived(self, derivation: Derivation) -> DisplayName:
        """Return the name of what is made of a value of this name."""
        return replace(self, derivations=(*self.derivations, derivation))


NAMELESS = DisplayName()
"""How a value is called that the compiler made, or that a transform means for one place."""


@dataclass(frozen=True, slots=True)
class NewName:
    """The name of a value that is to be made.

    Attributes:
        spelling: in LLVM's text: free in the function, or a wish (`names.py`).
        display: for a reader.
    """

    spelling: str
    display: DisplayName = NAMELESS

    def derived(self, derivation: Derivation, suffix: str = "") -> NewName:
        """Return the name of what is made of a value of this name; LLVM's ends with a suffix."""
        return NewName(f"{self.spelling}.{derivation.value}{suffix}", self.display.derived(derivation))

    def numbered(self, number: int) -> NewName:
        """Return the name of one of several such values, which a reader calls alike."""
        return NewName(f"{self.spelling}.{number}", self.display)
