"""What a launch passes for the arguments that transforms have added after a kernel's own, in words."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from coarsen.ir.kernel import AddedArgument, Kernel


@dataclass(frozen=True, slots=True)
class DescribedArgument:
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


def described_arguments(kernel: Kernel) -> Iterator[DescribedArgument]:
    """Yield the arguments that transforms have added to a kernel, in their order."""
    own = len(kernel.arguments) - len(kernel.added_arguments)
    for argument, added in zip(kernel.arguments[own:], kernel.added_arguments, strict=True):
        like = "" if added.meaning == "global-size" else kernel.arguments[added.like].name
        alike = [each for each in kernel.added_arguments if (each.meaning, each.like) == ("extent", added.like)]
        yield DescribedArgument(argument.name, added, like, max(len(alike), 1))
