"""The memory in which the array of a kernel's argument lies, or through which it is read."""

from __future__ import annotations

import enum
from dataclasses import dataclass

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
