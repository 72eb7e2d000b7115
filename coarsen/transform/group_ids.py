"""Rewriting of ids where whole work-groups are merged.

Replica k of the coarsened group g is the original group g·F + k, of the same local size L. With the local id t

    group id      g·F + k
    global id     global offset + (g·F + k)·L + t                  0 ≤ k < F

Local ids and sizes stay; the numbers of groups and of work-items along the dimension are F times what the
coarsened launch says:

    before                                   after (factor 2)
    %x = get_global_id(0)                    %group.id.x = get_group_id(0) * 2
    …                                        %x = global offset + %group.id.x * local size + local id
                                             %x.1 = %x + local size

The rest is as for work-items (`ids.py`): what is narrowed at once is narrowed once, a query whose dimension is
only known at run time becomes a selection.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from coarsen.ir.opencl.queries import IDS_OF_GROUPS, Query
from coarsen.ir.types import IntegerType
from coarsen.transform.ids import TEMPORARY, IdRewriter, Progression
from coarsen.transform.local_copies import LocalCopies

_CHANGED = IDS_OF_GROUPS | {Query.GLOBAL_SIZE, Query.GROUP_COUNT}


@dataclass
class GroupIdRewriter(IdRewriter):
    """Collects the instructions that compute the ids of merged groups, and knows each replica's local memory."""

    ids: ClassVar[frozenset[Query]] = frozenset({Query.GLOBAL_ID, Query.GROUP_ID})
    changed: ClassVar[frozenset[Query]] = _CHANGED
    local_copies: LocalCopies = field(default_factory=LocalCopies)

    def own_names(self, replica: int) -> Mapping[str, str]:
        """What a replica calls the local memory of which each has its own."""
        return self.local_copies.names(replica)

    def declarations(self) -> Iterator[str]:
        """The lines for builtins that the kernel did not call before, and for copies of its local variables."""
        yield from super().declarations()
        yield from self.local_copies.lines

    def _rescaled_id(self, query: Query) -> str:
        dimension = self.coarsening.dimension
        name = query.short_name(dimension)
        if query is Query.GROUP_ID:
            return self._operation("mul", self._query(query, dimension), str(self.coarsening.factor), name)
        size = self._query(Query.LOCAL_SIZE, dimension)
        start = self._operation("mul", self._first(Query.GROUP_ID), size, TEMPORARY)
        position = self._operation("add", start, self._query(Query.LOCAL_ID, dimension), TEMPORARY)
        return self._operation("add", position, self._query(Query.GLOBAL_OFFSET, dimension), name)

    def _replicas_of_id(self, query: Query) -> list[str]:
        name = query.short_name(self.coarsening.dimension)
        replicas = [self._first(query)]
        for k in range(1, self.coarsening.factor):
            replicas.append(self._operation("add", replicas[-1], self._distance(query), f"{name}.{k}"))
        self._progressions[tuple(replicas)] = Progression(replicas[0], self._distance(query), self._integer)
        return replicas

    def _narrowed(self, name: str, type_: IntegerType, query: Query) -> list[str]:
        key = f"%{name}"
        if key not in self._rescaled:
            replicas = [key]
            self.prologue.append(f"%{name} = trunc {self._integer} {self._first(query)} to {type_}")
            distance = self._narrowed_distance(query, type_)
            for k in range(1, self.coarsening.factor):
                other = self.names.replica(name, k)
                self.prologue.append(f"%{other} = add {type_} {replicas[-1]}, {distance}")
                replicas.append(f"%{other}")
            self._rescaled[key] = replicas
            self._progressions[tuple(replicas)] = Progression(key, distance, str(type_))
        return self._rescaled[key]

    def _distance(self, query: Query) -> str:
        """How far apart an id's neighbouring replicas stand."""
        return "1" if query is Query.GROUP_ID else self._query(Query.LOCAL_SIZE, self.coarsening.dimension)

    def _narrowed_distance(self, query: Query, type_: IntegerType) -> str:
        """The distance in a narrower type, narrowed once."""
        if query is Query.GROUP_ID:
            return str(1 % 2**type_.width)
        key = f"distance as {type_}"
        if key not in self._rescaled:
            name = self.names.fresh(Query.LOCAL_SIZE.short_name(self.coarsening.dimension))
            self.prologue.append(f"%{name} = trunc {self._integer} {self._distance(query)} to {type_}")
            self._rescaled[key] = [f"%{name}"]
        return self._rescaled[key][0]

    def _name_of_answer(self, query: Query, dimension: int) -> str:
        """The local size is used again for each replica, so that it gets a name that a back end keeps."""
        if query is Query.LOCAL_SIZE:
            return query.short_name(dimension)
        return super()._name_of_answer(query, dimension)
