"""The memory in which the array of a kernel's argument lies, or through which it is read."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import NamedTuple

from coarsen.base.names import did_you_mean
from coarsen.errors import InvalidInputError

_NO_IMAGE = (
    "image is not offered: an image is another object, which the host must make and the kernel must declare, and a"
    " GPU of today reads buffers through the same cache; take noncoherent"
)


class Place(enum.StrEnum):
    """Where an array lies: global, constant memory, global memory that nothing changes meanwhile, or local."""

    GLOBAL = "global"
    CONSTANT = "constant"
    NONCOHERENT = "noncoherent"
    LOCAL = "local"


GLOBAL = Place.GLOBAL


@dataclass(frozen=True, slots=True)
class PlaceChoice:
    """A place to choose for an argument's array.

    Attributes:
        place: where it is read.
        shape: its elements along each dimension, for a copy of the whole; None where it isn't known.
    """

    place: Place = GLOBAL
    shape: tuple[int, ...] | None = None

    def __str__(self) -> str:
        return str(self.place) + ("" if self.shape is None else f":{','.join(map(str, self.shape))}")


AS_WRITTEN = PlaceChoice()


@dataclass(frozen=True, slots=True)
class PlacedArgument:
    """What a launch keeps to where a kernel reads an argument's array from another memory.

    Attributes:
        index: of the argument.
        place: where its array is read.
        apart_from: arguments, by index, that must not lead to the same memory.
        size: the bytes that its buffer has; None for any.
    """

    index: int
    place: Place
    apart_from: tuple[int, ...] = ()
    size: int | None = None

    @property
    def takes_null(self) -> bool:
        """Return True if NULL may be passed, through which nothing is reached."""
        return self.place is not Place.LOCAL

    def reason_against(self, size: int, most_constant_bytes: int | None) -> str | None:
        """Say why a buffer of a size can't be read from the place; None where it can.

            constant      no larger than the device's constant memory holds
            noncoherent   any
            local         of just as many bytes as are copied, where that many are

        Args:
            size: in bytes.
            most_constant_bytes: of a buffer in the device's constant memory; None for any.
        """
        if self.place is Place.LOCAL and self.size not in (None, size):
            return f"not the {self.size} that are copied"
        if self.place is Place.CONSTANT and most_constant_bytes is not None and size > most_constant_bytes:
            return f"and the device's constant memory takes {most_constant_bytes}"
        return None


def parse_place(text: str) -> Place:
    """Return the place that a text names. Raises InvalidInputError."""
    if text == "image":
        raise InvalidInputError(_NO_IMAGE)
    if text not in tuple(Place):
        raise InvalidInputError(f"a place is {', '.join(Place)}, not '{text}'{did_you_mean(text, tuple(Place))}")
    return Place(text)


# Pads and permutations of the rows of an array in local memory, so that their elements part among the banks.
#
# float tile[16][16]    1       element (r, c) at r·17 + c: each row begins one bank later
#                       xor     element (r, c) at r·16 + (c ^ (r mod 16)): no bytes are added

# The bytes that all banks of a device deliver at once: 32 of 4 bytes, of all that have banks.
BANK_BYTES, ALL_BANKS_BYTES = 4, 128
# More than any local memory has.
_LARGEST_PAD = 2**16
_MOST_DIGITS = 6


class PadKind(enum.StrEnum):
    """The ways to keep rows apart."""

    ELEMENTS = "elements"
    XOR = "xor"
    AUTO = "auto"


@dataclass(frozen=True, slots=True)
class Pad:
    """What is done to the rows of an array.

    Attributes:
        kind: elements more in each row, their permutation, or what costs least on a device.
        elements: that are added to each row; 0 for the other kinds.

    Raises:
        InvalidInputError: a number that can't be.
    """

    kind: PadKind = PadKind.ELEMENTS
    elements: int = 0

    def __post_init__(self) -> None:
        most = _LARGEST_PAD if self.kind is PadKind.ELEMENTS else 0
        if not 0 <= self.elements <= most:
            raise InvalidInputError(f"a pad has from 0 to {_LARGEST_PAD} elements, not {self.elements}")

    @classmethod
    def parse(cls, text: str) -> Pad:
        """Return the pad that a text names: `1`, `xor` or `auto`. Raises InvalidInputError."""
        if text.isdecimal() and len(text) <= _MOST_DIGITS:
            return cls(PadKind.ELEMENTS, int(text))
        if text in (PadKind.XOR, PadKind.AUTO):
            return cls(PadKind(text))
        raise InvalidInputError(f"a pad is a number of elements, xor or auto, not '{text}'")

    def __str__(self) -> str:
        return str(self.elements) if self.kind is PadKind.ELEMENTS else str(self.kind)


NO_PAD = Pad()
XOR = Pad(PadKind.XOR)


class RowPermutation(NamedTuple):
    """An exclusive or of the units of each row: unit u of row r lies where u ^ (r & `mask`) would.

    Attributes:
        unit_bytes: of what stays together.
        mask: of the row's number; one less than a power of two.
    """

    unit_bytes: int
    mask: int

    def place(self, row: int, byte: int) -> tuple[int, int]:
        """Return the row and the byte in it where something lies that stood at another byte of the row."""
        unit, rest = divmod(byte, self.unit_bytes)
        return row, (unit ^ (row & self.mask)) * self.unit_bytes + rest


def row_permutation(row_bytes: int, unit_bytes: int, banks_bytes: int = ALL_BANKS_BYTES) -> RowPermutation | None:
    """Return the permutation that parts rows among all banks.

    Args:
        row_bytes: of a row.
        unit_bytes: of what must stay together: a bank's word, an element, an access.
        banks_bytes: of one word from each bank.

    Returns:
        None for rows that are no power of two of units, two at least: a permuted unit might leave its row.
    """
    units, rest = divmod(row_bytes, unit_bytes)
    if rest or units < 2 or units & (units - 1):
        return None
    within = max(1, banks_bytes // unit_bytes)
    return RowPermutation(unit_bytes, min(units, max(2, 1 << (within.bit_length() - 1))) - 1)
