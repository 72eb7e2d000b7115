"""Where the values of a kernel in SSA form are live: from their definition to their last use.

A phi's result is live from the start of its block, each value that it takes until the end of the block that it
comes from (Appel and Palsberg, Modern Compiler Implementation in Java, 2002, sections 10.1 and 19.6). Arguments
are live from the kernel's start.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from coarsen.analysis.control_flow import ControlFlow
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.operands import Operand, ValueKind
from coarsen.ir.kernel import Kernel

Live = frozenset[str]


@dataclass(frozen=True, slots=True)
class Step:
    """Values that are live before an instruction and not after it (`dying`), or the reverse (`born`)."""

    dying: Live
    born: Live


class Liveness:
    """The live values of a kernel, by name, at the borders of its blocks and between its instructions.

    `at_start` names values that are taken to be computed at the kernel's very start instead of where they stand,
    each with the name that it is then known by; several may share one.
    """

    def __init__(
        self, kernel: Kernel, control_flow: ControlFlow, at_start: Mapping[str, str] | None = None
    ) -> None:
        self.kernel = kernel
        self.flow = control_flow
        self._at_start = at_start or {}
        self.at_entry: Mapping[str, Live] = {}
        self.at_exit: Mapping[str, Live] = {}
        self._solve()

    def steps(self, block: str) -> Iterator[Step]:
        """Yield the changes over each instruction of a block, from its end, with `at_exit`, to after its phis.

        Few values change over an instruction, though thousands may be live.
        """
        live = set(self.at_exit[block])
        for instruction in reversed(self.kernel.block[block].instructions):
            if instruction.opcode == "phi":
                return
            step = self._step(instruction, live)
            live -= step.born
            live |= step.dying
            yield step

    def _solve(self) -> None:
        """Backwards to the least fixed point; `at_entry` holds what is live behind the phis."""
        order = tuple(reversed(self.flow.reverse_postorder))
        at_entry: dict[str, Live] = dict.fromkeys(order, frozenset())
        at_exit: dict[str, Live] = dict.fromkeys(order, frozenset())
        taken = {block: self.taken_from(block) for block in order}
        used = {block: self._used_first(block) for block in order}
        defined = {block: self._defined(block) for block in order}
        changed = True
        while changed:
            changed = False
            for block in order:
                following = self.flow.successors(block)
                passed = (
                    at_entry[name] - {phi.name for phi in self.kernel.block[name].phis} for name in following
                )
                at_exit[block] = taken[block].union(*passed)
                entering = used[block] | (at_exit[block] - defined[block])
                changed |= entering != at_entry[block]
                at_entry[block] = entering
        self.at_entry, self.at_exit = at_entry, at_exit

    def _used_first(self, block: str) -> Live:
        """The values that a block's instructions, phis apart, use before any of them defines them."""
        live: set[str] = set()
        for instruction in reversed(self.kernel.block[block].instructions):
            if instruction.opcode != "phi":
                step = self._step(instruction, live)
                live -= step.born
                live |= step.dying
        return frozenset(live)

    def _defined(self, block: str) -> Live:
        instructions = (i for i in self.kernel.block[block].instructions if i.opcode != "phi")
        return frozenset(i.name for i in instructions if i.name and i.name not in self._at_start)

    def _step(self, instruction: Instruction, behind: set[str]) -> Step:
        if instruction.name in self._at_start:
            return Step(frozenset(), frozenset())
        used = self.read_by(instruction)
        return Step(dying=used - behind, born=frozenset({instruction.name} & behind) - used)

    def read_by(self, instruction: Instruction) -> Live:
        """Return the values that an instruction other than a phi uses."""
        return self._names(instruction.operands)

    def taken_from(self, block: str) -> Live:
        """Return the values that phis take along the edges out of a block."""
        return self._names(
            value
            for following in self.flow.successors(block)
            for phi in self.kernel.block[following].phis
            for value, source in zip(phi.operands, phi.incoming, strict=True)
            if source == block
        )

    def _names(self, values: Iterable[Operand]) -> Live:
        return frozenset(self._at_start.get(value.text, value.text) for value in values if value.is_local)


def names_in(operand: Operand) -> tuple[str, ...]:
    """Return what an operand names: a value or an argument, or program-scope variables (with `@`).

    A constant expression names variables: `getelementptr (i8, ptr addrspace(3) @kernel.tile, i64 4)`.
    """
    kind = operand.kind
    if kind is ValueKind.INSTRUCTION or kind is ValueKind.ARGUMENT:
        return (operand.text,)
    if kind is ValueKind.GLOBAL:
        return (f"@{operand.text}",)
    if kind is not ValueKind.CONSTANT:
        return ()
    named = operand.referenced()
    return tuple([f"@{each.name}" for each in named]) if named else ()
