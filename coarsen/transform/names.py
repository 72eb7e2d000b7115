"""Fresh names for values and blocks: `sum` becomes `sum.1`, `sum.2`, … unless that is taken."""

from __future__ import annotations

from coarsen.ir.kernel import Kernel


class NameSupply:
    """Hands out names that no value, block or argument of a kernel has."""

    def __init__(self, kernel: Kernel) -> None:
        self._taken = {argument.name for argument in kernel.arguments}
        self._taken.update(block.name for block in kernel.blocks)
        self._taken.update(instruction.name for instruction in kernel.instructions() if instruction.name)
        self._taken.update(kernel.structures)
        # Names are never given back: a search goes on after the last number that was found.
        self._next: dict[str, int] = {}

    def fresh(self, wanted: str) -> str:
        """`wanted`, or `wanted` with the first number after it that makes it free."""
        name, number = wanted, self._next.get(wanted, 1)
        while name in self._taken:
            name = f"{wanted}.{number}"
            number += 1
        self._taken.add(name)
        self._next[wanted] = number
        return name

    def replica(self, name: str, replica: int) -> str:
        """The name of a value's or block's copy; replica 0 keeps its own."""
        return name if replica == 0 else self.fresh(f"{name}.{replica}")
