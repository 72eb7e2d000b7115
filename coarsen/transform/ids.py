"""Rewriting of work-item ids and of the NDRange's sizes.

How ids are computed for the replicas of work-items and of work-groups, `ItemIds` and `GroupIds` say. What a kernel
asks for with a constant dimension is computed at its start (`prologue.py`). An id that the kernel narrows at once
(`int x = get_global_id(0)`) is narrowed once, and the other replicas are counted from there: `%x.1 = add i32 %x,
1`. That reads better, and keeps Intel's CPU runtime from a mistake (see below).

A query whose dimension is only known at run time becomes a selection, in its place.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from coarsen.ir.graph.builder import Builder, number
from coarsen.ir.graph.details import Opcode
from coarsen.ir.graph.display_name import Derivation, NewName
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.operands import Operand
from coarsen.ir.graph.origin import Origin
from coarsen.ir.kernel import Kernel
from coarsen.ir.opencl.queries import (
    IDS_OF_GROUPS,
    LINEAR_PARTS,
    SIZES_IN_ITEMS,
    Query,
    builtin_name,
    linear_id,
    may_concern,
    queried_dimension,
    query_of,
)
from coarsen.ir.types import IntegerType
from coarsen.transform.names import TEMPORARY, NameSupply, like, own
from coarsen.transform.prologue import Prologue
from coarsen.variant.coarsening import Coarsening, Level

Values = tuple[Operand, ...]


class IdRewriter:
    """Builds the rescaled ids and sizes of a kernel, and knows what stands for which query.

    Args:
        kernel: whose queries they are.
        coarsening: which changes their answers.
        names: those that are free in the kernel.
        module: in which the coarsened kernel will stand.

    Attributes:
        coarsening: which changes the answers.
        start: what computes the answers at the kernel's start.
    """

    def __init__(self, kernel: Kernel, coarsening: Coarsening, names: NameSupply, module: Module) -> None:
        self.coarsening = coarsening
        self._kernel = kernel
        self.start = Prologue(module, coarsening, names)
        self._formula = (
            GroupIds(self.start)
            if coarsening.level is Level.GROUP
            else ItemIds(self.start, lambda: self._uses_whole_local_id)
        )
        self._answers: dict[Query | str, Values] = {}
        self._progressions: dict[Values, Progression] = {}

    def answered_at_start(self, instruction: Instruction) -> Values:
        """Return what stands for a query, or for a narrowed id, in each replica (one value if all have the same).

        Nothing for any other instruction, and for a query whose dimension is known only at run time.
        """
        if self.handles(instruction):
            return self._answer(instruction) if _is_constant(instruction) else ()
        if instruction.opcode != "trunc" or not isinstance(instruction.type, IntegerType):
            return ()
        narrowed = self._kernel.definition.get(instruction.operands[0].text)
        if narrowed is None or not self.handles(narrowed) or not _is_constant(narrowed):
            return ()
        query = Query(builtin_name(narrowed.callee))
        return self._narrowed(instruction, instruction.type, query) if query in self._formula.ids else ()

    def handles(self, instruction: Instruction) -> bool:
        """Return True for a call that asks for an id or size that this coarsening changes."""
        if instruction.opcode != "call":
            return False
        query = query_of(instruction)
        return query in self._formula.changed and may_concern(instruction, self.coarsening.dimension)

    def replicas(self, instruction: Instruction) -> Values:
        """Return what stands for a query's result in each replica (one value where all have the same)."""
        self.start.serve(_origin(instruction))
        query = Query(builtin_name(instruction.callee))
        return self._linear(query) if query.is_linear else self._along(query)

    def select(
        self, build: Builder, query: Instruction, dimension: Operand, chosen: Instruction, replica: int
    ) -> None:
        """Answer a query with a run-time dimension.

        Args:
            build: puts what is built at the query's place.
            query: the query.
            dimension: for which it is called.
            chosen: a `select` with a name, without operands, that stands nowhere: the result for one replica.
            replica: which one.
        """
        self.start.serve(_origin(query))
        asked, names = Query(builtin_name(query.callee)), self.start.names
        answers = self._along(asked)
        other = names.derived(chosen, Derivation.OTHER)
        matches = names.derived(chosen, Derivation.MATCHES)
        of_launch = self.start.queries.ask_along(build, asked, dimension, other)
        along = number(dimension.type, self.coarsening.dimension)
        is_along = build.compare("eq", dimension, along, matches)
        chosen.set_operands([is_along, _of_replica(answers, replica), of_launch])
        build.insert(chosen)

    def progression(self, replicas: Values) -> Progression | None:
        """Return the first and the distance, where the replicas are those of an id; else None."""
        return self._progressions.get(replicas)

    def _answer(self, query: Instruction) -> Values:
        """A query's replicas; of an id that is only ever narrowed the first is enough."""
        asked = query_of(query)
        if asked in self._formula.ids and self._is_only_narrowed(query):
            self.start.serve(_origin(query))
            return (self._formula.first(asked),)
        return self.replicas(query)

    def _is_only_narrowed(self, query: Instruction) -> bool:
        return all(user.opcode == "trunc" for user in self._kernel.users(query.name))

    @cached_property
    def _uses_whole_local_id(self) -> bool:
        """Return True if the local id has a use that does not narrow it."""
        return any(
            not query.arguments or not (_is_constant(query) and self._is_only_narrowed(query))
            for query in self._kernel.instructions()
            if query_of(query) in (Query.LOCAL_ID, Query.LOCAL_LINEAR_ID) and self.handles(query)
        )

    def _along(self, query: Query) -> Values:
        """A query along the coarsened dimension, for each replica."""
        if query not in self._answers:
            if query in self._formula.ids:
                self._answers[query] = self._spaced(self._formula.replicas(query))
            else:
                start, name = self.start, own(query.short_name(self.coarsening.dimension))
                size = start.compute(Opcode.MUL, start.ask(query), start.number(self.coarsening.factor), name)
                self._answers[query] = (size,)
        return self._answers[query]

    def _narrowed(self, instruction: Instruction, type_: IntegerType, query: Query) -> Values:
        """A narrowed id, by its own name, which a source may have chosen like a query's."""
        key = f"%{instruction.name}"
        if key not in self._answers:
            self.start.serve(_origin(instruction))
            self._answers[key] = self._spaced(self._formula.narrowed(like(instruction), type_, query))
        return self._answers[key]

    def _spaced(self, replicas: Progression) -> Values:
        for k, value in enumerate(replicas.values):
            if isinstance(value, Instruction):
                value.origin = value.origin.for_replica(k)
        self._progressions[replicas.values] = replicas
        return replicas.values

    def _linear(self, query: Query) -> Values:
        if query not in self._answers:
            self._answers[query] = tuple(self._linear_replica(query, k) for k in range(self.coarsening.factor))
        return self._answers[query]

    def _linear_replica(self, query: Query, replica: int) -> Operand:
        id_query, size_query = LINEAR_PARTS[query]
        name, compute = own(query.short_name()), self.start.compute
        return linear_id(
            lambda dimension: self._position(id_query, dimension, replica),
            lambda dimension: self._part(size_query, dimension, 0),
            lambda left, right: compute(Opcode.MUL, left, right, name.derived(Derivation.ROW)),
            lambda left, right: compute(Opcode.ADD, left, right, name),
        )

    def _position(self, id_query: Query, dimension: int, replica: int) -> Operand:
        position = self._part(id_query, dimension, replica)
        if id_query is Query.LOCAL_ID:
            return position
        offset = self.start.ask(Query.GLOBAL_OFFSET, dimension)
        return self.start.compute(Opcode.SUB, position, offset, own("position"))

    def _part(self, query: Query, dimension: int, replica: int) -> Operand:
        if dimension != self.coarsening.dimension:
            return self.start.ask(query, dimension)
        return _of_replica(self._along(query), replica)


def _of_replica(answers: Values, replica: int) -> Operand:
    return answers[replica if len(answers) > 1 else 0]


def _is_constant(query: Instruction) -> bool:
    """Return True if a query's dimension is a constant, or it has none."""
    return not query.arguments or queried_dimension(query) is not None


def _origin(instruction: Instruction) -> Origin:
    return Origin(instruction.position, instruction.call_position)


# The ids of merged work-items.
#
# With L' the coarsened local size (F·L' before), replica k of the coarsened local id t is the original local id
#
#     t + (t / S)·(F - 1)·S + k·S          0 ≤ k < F, S divides L'
#
# which is (t / S)·F·S + t % S + k·S without the remainder, and the same formula on `global id - global offset`
# gives the original global id. Sizes along the dimension are F times what the coarsened launch says.
#
#     before                                   after (factor 2, stride 1)
#     %x = get_global_id(0)                    %offset = get_global_offset(0)
#     …                                        %x.coarsened = get_global_id(0) - %offset
#                                              %x = %x.coarsened * 2 + %offset
#                                              %x.1 = %x + 1
#
# Intel's CPU runtime (2026.2) computes wrong local-memory addresses from several truncations of one 64-bit id. It
# does so as well from `%l = trunc %id` where `%id = mul %call, 2` has other uses: a local id that the kernel uses
# both ways is narrowed before it is multiplied. With a stride along two dimensions, it also computes wrong results
# from ids made with a remainder.


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

    def replicas(self, query: Query) -> Progression:
        """Return the replicas of an id."""
        start, first = self._start, self.first(query)
        name, stride = own(query.short_name(start.coarsening.dimension)), start.coarsening.stride
        others = (
            start.compute(Opcode.ADD, first, start.number(k * stride), name.numbered(k))
            for k in range(1, start.coarsening.factor)
        )
        return Progression((first, *others), start.number(stride))

    def narrowed(self, name: NewName, type_: IntegerType, query: Query) -> Progression:
        """Return the replicas of an id that the kernel narrows: replica 0 is, the others add their distance."""
        start, stride = self._start, self._start.coarsening.stride
        first = self._narrowed_first(name, type_, query)
        others = (
            start.build.binary(Opcode.ADD, first, number(type_, k * stride), start.names.replica(name, k))
            for k in range(1, start.coarsening.factor)
        )
        return Progression((first, *others), number(type_, stride))

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
            narrow = start.build.cast(Opcode.TRUNC, start.ask(query), type_, free)
            return start.build.binary(Opcode.MUL, narrow, number(type_, start.coarsening.factor), name)
        return start.build.cast(Opcode.TRUNC, self.first(query), type_, name)


# The ids of merged work-groups.
#
# Replica k of the coarsened group g is the original group g·F + k, of the same local size L. With the local id t
#
#     group id      g·F + k
#     global id     global offset + (g·F + k)·L + t                  0 ≤ k < F
#
# Local ids and sizes stay; the numbers of groups and of work-items along the dimension are F times what the
# coarsened launch says:
#
#     before                                   after (factor 2)
#     %x = get_global_id(0)                    %group.id.x = get_group_id(0) * 2
#     …                                        %x = global offset + %group.id.x * local size + local id
#                                              %x.1 = %x + local size


class GroupIds:
    """Builds the ids of merged work-groups; `start` is where they are built."""

    ids = frozenset({Query.GLOBAL_ID, Query.GROUP_ID})
    changed = IDS_OF_GROUPS | {Query.GLOBAL_SIZE, Query.GROUP_COUNT}

    def __init__(self, start: Prologue) -> None:
        self._start = start

    def first(self, query: Query) -> Operand:
        """Return replica 0 of an id."""
        return self._start.once(("replica 0", query), lambda: self._rescaled(query))

    def replicas(self, query: Query) -> Progression:
        """Return the replicas of an id."""
        name, free = own(query.short_name(self._start.coarsening.dimension)), self._start.names.free
        return self._spaced(self.first(query), self._distance(query), lambda k: free(name.numbered(k)))

    def narrowed(self, name: NewName, type_: IntegerType, query: Query) -> Progression:
        """Return the replicas of an id that the kernel narrows: replica 0 is, the others add their distance."""
        first = self._start.build.cast(Opcode.TRUNC, self.first(query), type_, name)
        distance = self._narrowed_distance(query, type_)
        return self._spaced(first, distance, lambda k: self._start.names.replica(name, k))

    def _spaced(self, first: Operand, distance: Operand, name: Callable[[int], NewName]) -> Progression:
        replicas = [first]
        for k in range(1, self._start.coarsening.factor):
            replicas.append(self._start.build.binary(Opcode.ADD, replicas[-1], distance, name(k)))
        return Progression(tuple(replicas), distance)

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
            return start.build.cast(Opcode.TRUNC, self._distance(query), type_, name)

        return start.once(("distance", type_), narrowed)


@dataclass(frozen=True, slots=True)
class Progression:
    """What stands for an id in each replica: values that stand the same distance apart, of one type."""

    values: Values
    distance: Operand

    @property
    def first(self) -> Operand:
        """Return what stands for it in replica 0."""
        return self.values[0]
