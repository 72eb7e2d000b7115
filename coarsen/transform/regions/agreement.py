"""The test whether all replicas take the same side of a divergent branch.

before                          after (factor 2, `in` being the side that is tested first)
head:  br %c, in, out           head:         %head.all = and %c, %c.1
                                              br %head.all, in, head.differ
                                head.differ:  %head.any = or %c, %c.1
                                              br %head.any, parted, out
"""

from __future__ import annotations

from collections.abc import Sequence

from coarsen.ir.graph.builder import Builder
from coarsen.ir.graph.details import Opcode
from coarsen.ir.graph.display_name import Derivation
from coarsen.ir.graph.instruction import Block
from coarsen.ir.graph.operands import Operand
from coarsen.ir.graph.origin import Origin, Role
from coarsen.transform.names import NameSupply
from coarsen.transform.replicas import new_block


class AgreementTest:
    """The test at the end of one block.

    Args:
        block: the block that ends with the test.
        conditions: the divergent branch's condition for each replica.
        targets: where the branch leads, if the condition holds and if it doesn't.
        is_true_first: whether the first of them is tested first.
        parted: the block that is entered when the replicas part.
        origin: of the branch.
        supply: hands out fresh names.

    Attributes:
        block: the block that ends with the test.
        differ: the block that follows: to the other target if all agree on that one, else to `parted`.
    """

    def __init__(
        self,
        block: Block,
        conditions: Sequence[Operand],
        targets: Sequence[Block],
        *,
        is_true_first: bool,
        parted: Block,
        origin: Origin,
        supply: NameSupply,
    ) -> None:
        self.block = block
        self._conditions = conditions
        self._is_true_first = is_true_first
        self._first, self._other = targets if is_true_first else reversed(targets)
        self._parted = parted
        self._origin = origin.with_role(Role.VOTE)
        self._supply = supply
        self.differ = new_block(supply.spelling(f"{block.name}.differ"), origin.with_role(Role.DIVERGED))

    def build_first_half(self) -> None:
        """Build what stands in place of the branch: to the first target if all agree on it."""
        build = Builder(self.block, self._origin)
        if self._is_true_first:
            build.branch_if(self._all(build), self._first, self.differ)
        else:
            build.branch_if(self._any(build), self.differ, self._first)

    def build_second_half(self) -> None:
        """Build what the block that follows holds."""
        build = Builder(self.differ, self._origin)
        if self._is_true_first:
            build.branch_if(self._any(build), self._parted, self._other)
        else:
            build.branch_if(self._all(build), self._other, self._parted)

    def block_before(self, target: Block) -> Block:
        """Return the block from which one of the targets is reached when all agree on it."""
        return self.block if target is self._first else self.differ

    def _all(self, build: Builder) -> Operand:
        return self._reduction(build, Opcode.AND, Derivation.ALL)

    def _any(self, build: Builder) -> Operand:
        return self._reduction(build, Opcode.OR, Derivation.ANY)

    def _reduction(self, build: Builder, opcode: Opcode, quantifier: Derivation) -> Operand:
        """`and` or `or` over the conditions of all replicas."""
        name = self._supply.derived(self.block, quantifier)
        *between, last = self._conditions[1:]
        result = self._conditions[0]
        for condition in between:
            partial = self._supply.free(name.derived(Derivation.PARTIAL))
            result = build.binary(opcode, result, condition, partial)
        return build.binary(opcode, result, last, name)
