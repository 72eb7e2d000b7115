"""Rewriting of work-item ids and of the NDRange's sizes.

With L' the coarsened local size (F·L' before), replica k of the coarsened local id t is the original local id

    t + (t / S)·(F - 1)·S + k·S          0 ≤ k < F, S divides L'

which is (t / S)·F·S + t % S + k·S without the remainder, and the same formula on `global id - global offset`
gives the original global id. Sizes along the dimension are F times what the coarsened launch says. What a kernel
asks for with a constant dimension is computed at its start:

    before                                   after (factor 2, stride 1)
    %x = get_global_id(0)                    %offset = get_global_offset(0)
    …                                        %x.coarsened = get_global_id(0) - %offset
                                             %x = %x.coarsened * 2 + %offset
                                             %x.1 = %x + 1

An id that the kernel narrows at once (`int x = get_global_id(0)`) is narrowed once, and the other replicas are
counted from there: `%x.1 = add i32 %x, 1`. That reads better, and Intel's CPU runtime (2026.2) computes wrong
local-memory addresses from several truncations of one 64-bit id. It does so as well from `%l = trunc %id` where
`%id = mul %call, 2` has other uses: a local id that the kernel uses both ways is narrowed before it is
multiplied. With a stride along two dimensions, it also computes wrong results from ids made with a remainder.

A query whose dimension is only known at run time becomes a selection, in its place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

from coarsen.analysis.uses import Use, uses_of_values
from coarsen.ir.kernel import Instruction, Kernel
from coarsen.ir.opencl.names import builtin_name
from coarsen.ir.opencl.queries import (
    LINEAR_PARTS,
    SIZES_IN_ITEMS,
    Query,
    linear_id,
    may_concern,
    queried_dimension,
    query_of,
)
from coarsen.ir.printer import rename
from coarsen.ir.types import IntegerType
from coarsen.transform.names import NameSupply
from coarsen.transform.query_lines import call_of, declarations, size_type
from coarsen.variant.coarsening import Coarsening

_CHANGED = SIZES_IN_ITEMS | {Query.GLOBAL_ID, Query.LOCAL_ID, *LINEAR_PARTS}
TEMPORARY = "call"


@dataclass(frozen=True, slots=True)
class Progression:
    """Values that stand the same distance apart: the first and the distance (as spelled), their integer type."""

    first: str
    distance: str
    type: str


@dataclass
class IdRewriter:
    """Collects the instructions that compute rescaled ids and sizes, and the declarations that they need."""

    kernel: Kernel
    coarsening: Coarsening
    names: NameSupply
    ids: ClassVar[frozenset[Query]] = frozenset({Query.GLOBAL_ID, Query.LOCAL_ID})
    changed: ClassVar[frozenset[Query]] = _CHANGED
    prologue: list[str] = field(default_factory=list)
    _rescaled: dict[object, list[str]] = field(default_factory=dict)
    _called: set[Query] = field(default_factory=set)
    _progressions: dict[tuple[str, ...], Progression] = field(default_factory=dict)
    _uses: Mapping[str, list[Use]] = field(init=False)

    def __post_init__(self) -> None:
        self._uses = uses_of_values(self.kernel)

    def answered_at_start(self, instruction: Instruction) -> list[str]:
        """What stands for a query, or for a narrowed id, in each replica (one item where all have the same).

        Empty for any other instruction, and for a query whose dimension is known only at run time.
        """
        if self.handles(instruction):
            return self._answers(instruction) if self._is_constant(instruction) else []
        if instruction.opcode != "trunc" or not isinstance(instruction.type, IntegerType):
            return []
        narrowed = self.kernel.definition.get(instruction.operands[0].text)
        if narrowed is None or not self.handles(narrowed) or not self._is_constant(narrowed):
            return []
        query = Query(builtin_name(narrowed.callee))
        return self._narrowed(instruction.name, instruction.type, query) if query in self.ids else []

    def _answers(self, query: Instruction) -> list[str]:
        """A query's replicas; of an id that is only ever narrowed the first is enough."""
        asked = query_of(query)
        if asked in self.ids and self._is_only_narrowed(query):
            return [self._first(asked)]
        return self.replicas(query)

    def _is_only_narrowed(self, query: Instruction) -> bool:
        return all(use.instruction.opcode == "trunc" for use in self._uses.get(query.name, ()))

    def handles(self, instruction: Instruction) -> bool:
        """Whether a call asks for an id or size that this coarsening changes."""
        return query_of(instruction) in self.changed and may_concern(instruction, self.coarsening.dimension)

    def _is_constant(self, query: Instruction) -> bool:
        """Whether a query's dimension is a constant, or it has none."""
        return not query.arguments or queried_dimension(query) is not None

    def replicas(self, instruction: Instruction) -> list[str]:
        """What stands for a hoisted query's result in each replica (one item where all have the same)."""
        query = Query(builtin_name(instruction.callee))
        return self._linear(query) if query.is_linear else self._along(query)

    def selection(
        self, instruction: Instruction, name: str, replica: int, names: Mapping[str, str]
    ) -> Iterator[str]:
        """The instructions of a query with a run-time dimension, `name` being its result for one replica."""
        dimension = rename("%" + instruction.arguments[0].text, names)
        query = Query(builtin_name(instruction.callee))
        rescaled = self._along(query)
        integer = self._integer
        call, matches = self.names.fresh(f"{name}.other"), self.names.fresh(f"{name}.matches")
        yield f"%{call} = {self._call(query, dimension)}"
        yield f"%{matches} = icmp eq i32 {dimension}, {self.coarsening.dimension}"
        own = rescaled[replica if len(rescaled) > 1 else 0]
        yield f"%{name} = select i1 %{matches}, {integer} {own}, {integer} %{call}"

    def progression(self, replicas: tuple[str, ...]) -> Progression | None:
        """The first and the distance, where the replicas are those of an id; else None."""
        return self._progressions.get(replicas)

    def own_names(self, _replica: int) -> Mapping[str, str]:
        """What a replica calls arguments and program-scope variables of its own; work-items share all of them."""
        return {}

    def declarations(self) -> Iterator[str]:
        """The `declare` lines for builtins that the kernel did not call before."""
        yield from declarations(self.kernel, self._called, self._integer)

    @property
    def _integer(self) -> str:
        """The type of `size_t` as an id is returned: 64 bits unless the module is for 32-bit SPIR."""
        return size_type(self.kernel)

    def _along(self, query: Query) -> list[str]:
        """A query along the coarsened dimension, for each replica."""
        if query not in self._rescaled:
            if query in self.ids:
                self._rescaled[query] = self._replicas_of_id(query)
            else:
                size = self._query(query, self.coarsening.dimension)
                name = query.short_name(self.coarsening.dimension)
                self._rescaled[query] = [self._operation("mul", size, str(self.coarsening.factor), name)]
        return self._rescaled[query]

    def _replicas_of_id(self, query: Query) -> list[str]:
        first, stride = self._first(query), self.coarsening.stride
        name = query.short_name(self.coarsening.dimension)
        others = range(1, self.coarsening.factor)
        replicas = [first, *(self._operation("add", first, str(k * stride), f"{name}.{k}") for k in others)]
        self._progressions[tuple(replicas)] = Progression(first, str(stride), self._integer)
        return replicas

    def _first(self, query: Query) -> str:
        """Replica 0 of an id along the coarsened dimension."""
        key = (query, "replica 0")
        if key not in self._rescaled:
            self._rescaled[key] = [self._rescaled_id(query)]
        return self._rescaled[key][0]

    def _rescaled_id(self, query: Query) -> str:
        factor, stride = self.coarsening.factor, self.coarsening.stride
        name = query.short_name(self.coarsening.dimension)
        position = self._query(query, self.coarsening.dimension)
        offset = ""
        if query is Query.GLOBAL_ID:
            offset = self._query(Query.GLOBAL_OFFSET, self.coarsening.dimension)
            position = self._operation("sub", position, offset, TEMPORARY if stride == 1 else f"{name}.coarsened")
        scaled = TEMPORARY if offset else name
        if stride == 1:
            first = self._operation("mul", position, str(factor), scaled)
        else:
            block = self._operation("udiv", position, str(stride), TEMPORARY)
            passed = self._operation("mul", block, str((factor - 1) * stride), TEMPORARY)
            first = self._operation("add", position, passed, scaled)
        if offset:
            first = self._operation("add", first, offset, name)
        return first

    def _narrowed(self, name: str, type_: IntegerType, query: Query) -> list[str]:
        """A narrowed id: replica 0 narrows its own, the others add their distance."""
        key = f"%{name}"  # a source may call a variable like a query
        if key not in self._rescaled:
            replicas = [key]
            self.prologue.append(f"%{name} = {self._narrowed_first(type_, query)}")
            for k in range(1, self.coarsening.factor):
                other = self.names.replica(name, k)
                distance = k * self.coarsening.stride % 2**type_.width
                self.prologue.append(f"%{other} = add {type_} %{name}, {distance}")
                replicas.append(f"%{other}")
            self._rescaled[key] = replicas
            self._progressions[tuple(replicas)] = Progression(key, str(self.coarsening.stride), str(type_))
        return self._rescaled[key]

    def _narrowed_first(self, type_: IntegerType, query: Query) -> str:
        """The instruction that narrows replica 0's id."""
        if query is Query.LOCAL_ID and self.coarsening.stride == 1 and self._uses_whole_local_id:
            narrow = self.names.fresh(TEMPORARY)
            position = self._query(query, self.coarsening.dimension)
            self.prologue.append(f"%{narrow} = trunc {self._integer} {position} to {type_}")
            return f"mul {type_} %{narrow}, {self.coarsening.factor % 2**type_.width}"
        return f"trunc {self._integer} {self._first(query)} to {type_}"

    @cached_property
    def _uses_whole_local_id(self) -> bool:
        """Whether the local id has a use that does not narrow it."""
        return any(
            not query.arguments or not (self._is_constant(query) and self._is_only_narrowed(query))
            for query in self.kernel.instructions()
            if query_of(query) in (Query.LOCAL_ID, Query.LOCAL_LINEAR_ID) and self.handles(query)
        )

    def _linear(self, query: Query) -> list[str]:
        if query not in self._rescaled:
            replicas = range(self.coarsening.factor)
            self._rescaled[query] = [self._linear_replica(query, k) for k in replicas]
        return self._rescaled[query]

    def _linear_replica(self, query: Query, replica: int) -> str:
        id_query, size_query = LINEAR_PARTS[query]
        name = query.short_name()
        return linear_id(
            lambda dimension: self._position(id_query, dimension, replica),
            lambda dimension: self._part(size_query, dimension, 0),
            lambda left, right: self._operation("mul", left, right, f"{name}.row"),
            lambda left, right: self._operation("add", left, right, name),
        )

    def _position(self, id_query: Query, dimension: int, replica: int) -> str:
        position = self._part(id_query, dimension, replica)
        if id_query is Query.LOCAL_ID:
            return position
        offset = self._query(Query.GLOBAL_OFFSET, dimension)
        return self._operation("sub", position, offset, "position")

    def _part(self, query: Query, dimension: int, replica: int) -> str:
        if dimension != self.coarsening.dimension:
            return self._query(query, dimension)
        rescaled = self._along(query)
        return rescaled[replica if len(rescaled) > 1 else 0]

    def _query(self, query: Query, dimension: int) -> str:
        """The launch's own answer, asked for once."""
        key = (query, dimension)
        if key not in self._rescaled:
            name = self.names.fresh(self._name_of_answer(query, dimension))
            self.prologue.append(f"%{name} = {self._call(query, str(dimension))}")
            self._rescaled[key] = [f"%{name}"]
        return self._rescaled[key][0]

    def _name_of_answer(self, query: Query, dimension: int) -> str:
        """What is used once gets a compiler's name, so that a back end may put it where it is used."""
        if query is Query.GLOBAL_OFFSET:
            return query.short_name(dimension)
        if query is Query.LOCAL_ID and self.coarsening.stride > 1:
            return f"{query.short_name(dimension)}.coarsened"
        return TEMPORARY

    def _call(self, query: Query, dimension: str) -> str:
        self._called.add(query)
        return call_of(query, dimension, self._integer)

    def _operation(self, opcode: str, left: str, right: str, wanted: str) -> str:
        name = self.names.fresh(wanted)
        self.prologue.append(f"%{name} = {opcode} {self._integer} {left}, {right}")
        return f"%{name}"
