"""The ids of merged work-groups.

Replica k of the coarsened group g is the original group g·F + k, of the same local size L. With the local id t

    group id      g·F + k
    global id     global offset + (g·F + k)·L + t                  0 ≤ k < F

Local ids and sizes stay; the numbers of groups and of work-items along the dimension are F times what the
coarsened launch says:

    before                                   after (factor 2)
    %x = get_global_id(0)                    %group.id.x = get_group_id(0) * 2
    …                                        %x = global offset + %group.id.x * local size + local id
                                             %x.1 = %x + local size
"""

from __future__ import annotations

from collections.abc import Callable

from coarsen.ir.graph.builder import number
from coarsen.ir.graph.display_name import NewName
from coarsen.ir.graph.opcode import Opcode
from coarsen.ir.graph.operands import Operand
from coarsen.ir.opencl.queries import IDS_OF_GROUPS, Query
from coarsen.ir.types import IntegerType
from coarsen.transform.names import TEMPORARY, own
from coarsen.transform.progression import Replicas
from coarsen.transform.prologue import Prologue


class GroupIds:
    """Builds the ids of merged work-groups; `start` is where they are built."""

    ids = frozenset({Query.GLOBAL_ID, Query.GROUP_ID})
    changed = IDS_OF_GROUPS | {Query.GLOBAL_SIZE, Query.GROUP_COUNT}

    def __init__(self, start: Prologue) -> None:
        self._start = start

    def first(self, query: Query) -> Operand:
        """Return replica 0 of an id."""
        return self._start.once(("replica 0", query), lambda: self._rescaled(query))

    def replicas(self, query: Query) -> Replicas:
        """Return the replicas of an id."""
        name, free = own(query.short_name(self._start.coarsening.dimension)), self._start.names.free
        return self._spaced(self.first(query), self._distance(query), lambda k: free(name.numbered(k)))

    def narrowed(self, name: NewName, type_: IntegerType, query: Query) -> Replicas:
        """Return the replicas of an id that the kernel narrows: replica 0 is, the others add their distance."""
        first = self._start.narrow(self.first(query), type_, name)
        distance = self._narrowed_distance(query, type_)
        return self._spaced(first, distance, lambda k: self._start.names.replica(name, k))

    def _spaced(self, first: Operand, distance: Operand, name: Callable[[int], NewName]) -> Replicas:
        replicas = [first]
        for k in range(1, self._start.coarsening.factor):
            replicas.append(self._start.shift(replicas[-1], distance, name(k)))
        return Replicas(tuple(replicas), distance)

    def _rescaled(self, query: Query) -> Operand:
        start = self._start
        name = own(query.short_name(start.coarsening.dimension))
        if query is Query.GROUP_ID:
            return start.compute(Opcode.MUL, start.ask(query), start.number(start.coarsening.factor), name)
        size = start.ask(Query.LOCAL_SIZE)
        group = start.compute(Opcode.MUL, self.first(Query.GROUP_ID), size, TEMPORARY)
        position = start.compute(Opcode.ADD, group, start.ask(Query.LOCAL_ID), TEMPORARY)
        return start.compute(Opcode.ADD, position, start.ask(Query.GLOBAL_OFFSET), name)

    def _distance(self, query: Query) -> Operand:
        """Return how far apart an id's neighbouring replicas stand."""
        return self._start.number(1) if query is Query.GROUP_ID else self._start.ask(Query.LOCAL_SIZE)

    def _narrowed_distance(self, query: Query, type_: IntegerType) -> Operand:
        """The distance in a narrower type, narrowed once."""
        start = self._start
        if query is Query.GROUP_ID:
            return number(type_, 1)

        def narrowed() -> Operand:
            name = start.names.free(own(Query.LOCAL_SIZE.short_name(start.coarsening.dimension)))
            return start.narrow(self._distance(query), type_, name)

        return start.once(("distance", type_), narrowed)
