"""The test whether all replicas take the same side of a divergent branch.

before                          after (factor 2, `in` being the side that is tested first)
head:  br %c, in, out           head:         %head.all = and %c, %c.1
                                              br %head.all, in, head.differ
                                head.differ:  %head.any = or %c, %c.1
                                              br %head.any, parted, out
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from coarsen.transform.names import NameSupply
from coarsen.transform.written import WrittenBlock


@dataclass
class AgreementTest:
    """The test at the end of one block.

    Attributes:
        block: the block that ends with the divergent branch.
        conditions: the branch's condition for each replica, as spelled.
        targets: where the branch leads, if the condition holds and if it doesn't.
        first: the one of them that is tested first.
        parted: the block that is entered when the replicas part.
        supply: hands out fresh names.
    """

    block: str
    conditions: Sequence[str]
    targets: Sequence[str]
    first: str
    parted: str
    supply: NameSupply
    _differ: str = field(init=False)

    def __post_init__(self) -> None:
        self._differ = self.supply.fresh(f"{self.block}.differ")

    def first_half(self) -> Iterator[str]:
        """What stands in place of the branch: to the first target if all agree on it."""
        if self.first == self.targets[0]:
            yield from self._reduction("and", name := self._fresh("all"))
            yield f"br i1 %{name}, label %{self.first}, label %{self._differ}"
        else:
            yield from self._reduction("or", name := self._fresh("any"))
            yield f"br i1 %{name}, label %{self._differ}, label %{self.first}"

    def second_half(self) -> WrittenBlock:
        """The block that follows: to the other target if all agree on that one, else to where they go on alone."""
        other = self.targets[1] if self.first == self.targets[0] else self.targets[0]
        if self.first == self.targets[0]:
            lines = [*self._reduction("or", name := self._fresh("any"))]
            lines.append(f"br i1 %{name}, label %{self.parted}, label %{other}")
        else:
            lines = [*self._reduction("and", name := self._fresh("all"))]
            lines.append(f"br i1 %{name}, label %{other}, label %{self.parted}")
        return WrittenBlock(self._differ, tuple(lines))

    def block_before(self, target: str) -> str:
        """The block from which one of the targets is reached when all agree on it."""
        return self.block if target == self.first else self._differ

    def _fresh(self, quantifier: str) -> str:
        return self.supply.fresh(f"{self.block}.{quantifier}")

    def _reduction(self, opcode: str, name: str) -> Iterator[str]:
        """`and` or `or` over the conditions of all replicas."""
        result = self.conditions[0]
        for k, condition in enumerate(self.conditions[1:], start=2):
            partial = name if k == len(self.conditions) else self.supply.fresh(f"{name}.of")
            yield f"%{partial} = {opcode} i1 {result}, {condition}"
            result = f"%{partial}"
