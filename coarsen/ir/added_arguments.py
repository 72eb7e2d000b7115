"""What a launch passes for the arguments that transforms have added after a kernel's own, in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from coarsen.ir.kernel import AddedArgument, Kernel


@dataclass(frozen=True, slots=True)
class DescribedArgument:
    """An added argument: its name in the kernel, and for `local-memory` the name of the argument it is like."""

    name: str
    added: AddedArgument
    like: str = ""

    @property
    def sentence(self) -> str:
        """What to pass."""
        if self.added.meaning == "local-memory":
            return f"local memory of the size that is passed for {self.like}"
        return f"the uncoarsened launch's global size along dimension {self.added.dimension}, a ulong"


def described_arguments(kernel: Kernel) -> Iterator[DescribedArgument]:
    """The arguments that transforms have added to a kernel, in their order."""
    own = len(kernel.arguments) - len(kernel.added_arguments)
    for argument, added in zip(kernel.arguments[own:], kernel.added_arguments, strict=True):
        like = kernel.arguments[added.like].name if added.meaning == "local-memory" else ""
        yield DescribedArgument(argument.name, added, like)
