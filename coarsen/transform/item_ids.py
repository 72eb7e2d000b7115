"""The ids of merged work-items.

With L' the coarsened local size (F·L' before), replica k of the coarsened local id t is the original local id

    t + (t / S)·(F - 1)·S + k·S          0 ≤ k < F, S divides L'

which is (t / S)·F·S + t % S + k·S without the remainder, and the same formula on `global id - global offset`
gives the original global id. Sizes along the dimension are F times what the coarsened launch says.

    before                                   after (factor 2, stride 1)
    %x = get_global_id(0)                    %offset = get_global_offset(0)
    …                                        %x.coarsened = get_global_id(0) - %offset
                                             %x = %x.coarsened * 2 + %offset
                                             %x.1 = %x + 1

Intel's CPU runtime (2026.2) computes wrong local-memory addresses from several truncations of one 64-bit id. It
does so as well from `%l = trunc %id` where `%id = mul %call, 2` has other uses: a local id that the kernel uses
both ways is narrowed before it is multiplied. With a stride along two dimensions, it also computes wrong results
from ids made with a remainder.
"""

from __future__ import annotations

from collections.abc import Callable

from coarsen.ir.graph.builder import number
from coarsen.ir.graph.display_name import Derivation, NewName
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.opcode import Opcode
from coarsen.ir.graph.operands import Operand
from coarsen.ir.opencl.queries import LINEAR_PARTS, SIZES_IN_ITEMS, Query
from coarsen.ir.types import IntegerType
from coarsen.transform.names import TEMPORARY, own
from coarsen.transform.progression import Replicas
from coarsen.transform.prologue import Prologue


class ItemIds:
    """Builds the ids of merged work-items.

    Args:
        start: where they are built.
        uses_whole_local_id: whether the kernel's local id has a use that does not narrow it.
    """

    ids = frozenset({Query.GLOBAL_ID, Query.LOCAL_ID})
    changed = SIZES_IN_ITEMS | {Query.GLOBAL_ID, Query.LOCAL_ID, *LINEAR_PARTS}

    def __init__(self, start: Prologue, uses_whole_local_id: Callable[[], bool]) -> None:
        self._start = start
        self._uses_whole_local_id = uses_whole_local_id

    def first(self, query: Query) -> Operand:
        """Return replica 0 of an id."""
        return self._start.once(("replica 0", query), lambda: self._rescaled(query))

    def replicas(self, query: Query) -> Replicas:
        """Return the replicas of an id."""
        start, first = self._start, self.first(query)
        name, stride = own(query.short_name(start.coarsening.dimension)), start.coarsening.stride
        others = (
            start.compute(Opcode.ADD, first, start.number(k * stride), name.numbered(k))
            for k in range(1, start.coarsening.factor)
        )
        return Replicas((first, *others), start.number(stride))

    def narrowed(self, name: NewName, type_: IntegerType, query: Query) -> Replicas:
        """Return the replicas of an id that the kernel narrows: replica 0 is, the others add their distance."""
        start, stride = self._start, self._start.coarsening.stride
        first = self._narrowed_first(name, type_, query)
        others = (
            start.shift(first, number(type_, k * stride), start.names.replica(name, k))
            for k in range(1, start.coarsening.factor)
        )
        return Replicas((first, *others), number(type_, stride))

    def _rescaled(self, query: Query) -> Operand:
        start = self._start
        factor, stride = start.coarsening.factor, start.coarsening.stride
        name = own(query.short_name(start.coarsening.dimension))
        position, offset = start.ask(query), None
        if query is Query.GLOBAL_ID:
            offset = start.ask(Query.GLOBAL_OFFSET)
            wanted = TEMPORARY if stride == 1 else name.derived(Derivation.COARSENED)
            position = start.compute(Opcode.SUB, position, offset, wanted)
        scaled = name if offset is None else TEMPORARY
        if stride == 1:
            first = start.compute(Opcode.MUL, position, start.number(factor), scaled)
        else:
            block = start.compute(Opcode.UDIV, position, start.number(stride), TEMPORARY)
            passed = start.compute(Opcode.MUL, block, start.number((factor - 1) * stride), TEMPORARY)
            first = start.compute(Opcode.ADD, position, passed, scaled)
        return first if offset is None else start.compute(Opcode.ADD, first, offset, name)

    def _narrowed_first(self, name: NewName, type_: IntegerType, query: Query) -> Instruction:
        start = self._start
        if query is Query.LOCAL_ID and start.coarsening.stride == 1 and self._uses_whole_local_id():
            free = start.names.free(TEMPORARY)
            narrow = start.narrow(start.ask(query), type_, free)
            return start.scale(narrow, start.coarsening.factor, name)
        return start.narrow(self.first(query), type_, name)
