"""What a variant may take for granted of the memory that a launch passes."""

from __future__ import annotations

from dataclasses import dataclass, replace

from coarsen.variant.transforms import Transforms


@dataclass(frozen=True, slots=True)
class Granted:
    """What is so, or may be assumed.

    Attributes:
        wide_accesses: memory objects are small enough for those that are used.
        distinct: arguments point to distinct memory where that counts.
        placed: arrays that are read from another memory can be.
    """

    wide_accesses: bool = True
    distinct: bool = True
    placed: bool = True

    def both(self, other: Granted) -> Granted:
        """Return what this and another one grant."""
        return Granted(
            self.wide_accesses and other.wide_accesses,
            self.distinct and other.distinct,
            self.placed and other.placed,
        )

    def of(self, transforms: Transforms) -> Transforms:
        """Return those of some transforms that may be used."""
        return replace(
            transforms,
            wide_accesses=transforms.wide_accesses and self.wide_accesses,
            distinct=transforms.distinct and self.distinct,
        )


ALL_GRANTED = Granted()
