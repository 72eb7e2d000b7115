"""The arguments that transforms have added after a kernel's own, and what a launch passes for them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple


class AddedArgument(NamedTuple):
    """An argument that a transform added after the kernel's own; the launcher knows what to pass.

    Attributes:
        meaning: `global-size`: the uncoarsened launch's global size along `dimension`, in work-items, as a 64-bit
            integer; `local-memory`: local memory of the same size as that passed for argument `like`; `extent`:
            the number of elements along `dimension` of the array that is passed for argument `like`, as a 64-bit
            integer.
        dimension: of the NDRange, 0, 1 or 2, for `global-size`; of the array, the slowest is 0, for `extent`.
        like: the index of one of the kernel's own arguments; for `local-memory` and `extent`.
    """

    meaning: Literal["global-size", "local-memory", "extent"]
    dimension: int = 0
    like: int = 0


class DescribedArgument(NamedTuple):
    """An added argument: its name in the kernel, and that of the argument it is like, if any.

    `dimensions`: how many extents of that array are passed.
    """

    name: str
    added: AddedArgument
    like: str = ""
    dimensions: int = 1

    @property
    def sentence(self) -> str:
        """Return what to pass."""
        if self.added.meaning == "local-memory":
            return f"local memory of the size that is passed for {self.like}"
        if self.added.meaning == "extent":
            if self.dimensions == 1:
                return f"the number of elements of {self.like}, a ulong"
            return (
                f"the extent of {self.like} along its dimension {self.added.dimension}, the slowest is 0, a ulong"
            )
        return f"the uncoarsened launch's global size along dimension {self.added.dimension}, a ulong"


def extent_of(wanted: AddedArgument, added: Sequence[AddedArgument], shape: Sequence[int]) -> int:
    """Return what to pass for an extent: of an array that has but one, all of its elements.

    Args:
        wanted: an added argument, an `extent`.
        added: all that were added.
        shape: of the array that it is of, in elements, the slowest dimension first.
    """
    alike = [each for each in added if (each.meaning, each.like) == ("extent", wanted.like)]
    return shape[wanted.dimension] if len(alike) > 1 else math.prod(shape)


def described_arguments(names: Sequence[str], added: Sequence[AddedArgument]) -> Iterator[DescribedArgument]:
    """Yield the arguments that transforms have added to a kernel, in their order.

    Args:
        names: of all its arguments; the added ones come last.
        added: what they are.
    """
    for name, each in zip(names[len(names) - len(added) :], added, strict=True):
        like = "" if each.meaning == "global-size" else names[each.like]
        alike = [other for other in added if (other.meaning, other.like) == ("extent", each.like)]
        yield DescribedArgument(name, each, like, max(len(alike), 1))
