"""Which arguments of a kernel must point to memory of their own for it to be free of aliases.

    c[i] += a[k] * b[k]          c is written: it must lie apart from a, and from b; a and b may be one buffer

Only where every access is known to go through the arguments: a pointer that was loaded, or made of a number, may
lead anywhere, and nothing is assumed of such a kernel.
"""

from __future__ import annotations

from dataclasses import dataclass

from coarsen.analysis.control_flow import flow_graph
from coarsen.analysis.memory_effects import EffectsOfKernel
from coarsen.analysis.pointer_roots import PointerRoots, Roots
from coarsen.ir.graph.details import Opcode
from coarsen.ir.graph.function import Function
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.operands import Argument, Named
from coarsen.ir.opencl.builtins import Reach, Role
from coarsen.ir.types import AddressSpace, PointerType

ArgumentPairs = tuple[tuple[int, int], ...]
# Where memory objects lie.
_OF_OBJECTS = frozenset({AddressSpace.GLOBAL, AddressSpace.CONSTANT})


@dataclass(frozen=True, slots=True)
class DistinctArguments:
    """The arguments of a kernel that point to memory objects.

    Attributes:
        pointers: their indices, in order.
        written: those through which the kernel may write.
    """

    pointers: tuple[int, ...]
    written: frozenset[int]

    @property
    def apart(self) -> ArgumentPairs:
        """The pairs of arguments, the lower index first, that must not lead to the same memory."""
        pairs = ((first, second) for first in self.pointers for second in self.pointers if first < second)
        return tuple(pair for pair in pairs if not self.written.isdisjoint(pair))


def distinct_arguments(
    function: Function, effects: EffectsOfKernel, roots: PointerRoots
) -> DistinctArguments | None:
    """Return which arguments of a kernel lead to memory objects; None where other pointers may do so too.

    Args:
        function: the kernel.
        effects: the judge of its instructions.
        roots: of its pointers.
    """
    place = {argument: index for index, argument in enumerate(function.arguments)}
    written: set[int] = set()
    for instruction in function.instructions():
        if only_synchronises(instruction, effects):
            continue
        touched = effects.of(instruction)
        reached, changed = roots.of_all(touched.reads), roots.of_all(touched.writes)
        if touched.reads_anything or touched.writes_anything or reached is None or changed is None:
            return None
        written |= {place[root] for root in changed if isinstance(root, Argument) and root in place}
    types = [(place[each], each.type) for each in function.arguments]
    pointers = tuple(
        n for n, type_ in types if isinstance(type_, PointerType) and type_.address_space in _OF_OBJECTS
    )
    return DistinctArguments(pointers, frozenset(written & set(pointers)))


def loads_past_stores(function: Function, effects: EffectsOfKernel, roots: PointerRoots) -> bool:
    """Return True if a load through one argument may come after a store through another one.

    Such a load need not be repeated, nor wait for the store, where the arguments lie apart.

    Args:
        function: the kernel.
        effects: the judge of its instructions.
        roots: of its pointers.
    """
    flow = flow_graph(function)
    stored: dict[str, frozenset[Named]] = {block.name: frozenset() for block in function.blocks}
    pending = [block for block in function.blocks if block.name in flow.place]
    by_name = {block.name: block for block in pending}
    while pending:
        block = pending.pop()
        before: frozenset[Named] = frozenset().union(*(stored[name] for name in flow.predecessors(block.name)))
        for instruction in block.instructions:
            touched = effects.of(instruction)
            read = _arguments(roots.of_all(touched.reads))
            if any(before - {argument} for argument in read):
                return True
            before |= _arguments(roots.of_all(touched.writes))
        if before != stored[block.name]:
            stored[block.name] = before
            pending += [by_name[name] for name in flow.successors(block.name)]
    return False


def _arguments(found: Roots | None) -> frozenset[Named]:
    return frozenset(root for root in found or () if isinstance(root, Argument))


def only_synchronises(instruction: Instruction, effects: EffectsOfKernel) -> bool:
    """Return True for barriers, fences and waiting for copies: they order what others do to memory."""
    if instruction.opcode is Opcode.FENCE:
        return True
    if instruction.opcode is not Opcode.CALL:
        return False
    builtin = effects.builtin(instruction)
    return builtin.is_known and builtin.role in (Role.GROUP_WIDE, Role.FENCE) and builtin.reads is Reach.EVERYTHING


def may_meet(first: Roots | None, second: Roots | None) -> bool:
    """Return True if pointers of some roots may lead to the same memory, in a kernel whose arguments lie apart.

    Of what is compared one is written: two arguments that are only read may be one buffer.
    """
    if first is None or second is None:
        return True
    return not first.isdisjoint(second)
