"""Rewriting of work-item ids and of the NDRange's sizes.

How ids are computed for the replicas, `item_ids.py` and `group_ids.py` say. What a kernel asks for with a constant
dimension is computed at its start (`prologue.py`). An id that the kernel narrows at once (`int x =
get_global_id(0)`) is narrowed once, and the other replicas are counted from there: `%x.1 = add i32 %x, 1`. That
reads better, and keeps Intel's CPU runtime from a mistake (`item_ids.py`).

A query whose dimension is only known at run time becomes a selection, in its place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from coarsen.analysis.uses import Use, uses_of_values
from coarsen.ir.graph.builder import Builder, number
from coarsen.ir.graph.display_name import Derivation
from coarsen.ir.graph.instruction import Block, Instruction
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.opcode import Opcode
from coarsen.ir.graph.operands import Operand
from coarsen.ir.graph.origin import Origin
from coarsen.ir.kernel import Instruction as Known
from coarsen.ir.kernel import Kernel
from coarsen.ir.opencl.names import builtin_name
from coarsen.ir.opencl.queries import LINEAR_PARTS, Query, linear_id, may_concern, queried_dimension, query_of
from coarsen.ir.types import IntegerType
from coarsen.transform.group_ids import GroupIds
from coarsen.transform.item_ids import ItemIds
from coarsen.transform.names import NameSupply, like, own
from coarsen.transform.progression import Progression, Replicas
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
        uses: of the kernel's values, if they are known already.

    Attributes:
        coarsening: which changes the answers.
    """

    def __init__(
        self,
        kernel: Kernel,
        coarsening: Coarsening,
        names: NameSupply,
        module: Module,
        uses: Mapping[str, Sequence[Use]] | None = None,
    ) -> None:
        self.coarsening = coarsening
        self._kernel = kernel
        self._known_uses = uses
        self._start = Prologue(module, coarsening, names)
        self._formula = (
            GroupIds(self._start)
            if coarsening.level is Level.GROUP
            else ItemIds(self._start, lambda: self._uses_whole_local_id)
        )
        self._answers: dict[Query | str, Values] = {}
        self._progressions: dict[Values, Progression] = {}

    @property
    def prologue(self) -> Block:
        """The instructions that compute the answers at the kernel's start, in a block that stands nowhere."""
        return self._start.block

    def declare(self) -> None:
        """Declare what is asked of the launch and the module had not declared; to be done at the end."""
        self._start.queries.declare()

    def answered_at_start(self, instruction: Known) -> Values:
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

    def handles(self, instruction: Known) -> bool:
        """Return True for a call that asks for an id or size that this coarsening changes."""
        if instruction.opcode != "call":
            return False
        query = query_of(instruction)
        return query in self._formula.changed and may_concern(instruction, self.coarsening.dimension)

    def replicas(self, instruction: Known) -> Values:
        """Return what stands for a query's result in each replica (one value where all have the same)."""
        self._start.serve(_origin(instruction))
        query = Query(builtin_name(instruction.callee))
        return self._linear(query) if query.is_linear else self._along(query)

    def select(self, build: Builder, query: Known, dimension: Operand, chosen: Instruction, replica: int) -> None:
        """Answer a query with a run-time dimension.

        Args:
            build: puts what is built at the query's place.
            query: the query.
            dimension: for which it is called.
            chosen: a `select` with a name, without operands, that stands nowhere: the result for one replica.
            replica: which one.
        """
        self._start.serve(_origin(query))
        asked, names = Query(builtin_name(query.callee)), self._start.names
        answers = self._along(asked)
        other = names.derived(chosen, Derivation.OTHER)
        matches = names.derived(chosen, Derivation.MATCHES)
        of_launch = self._start.queries.ask_along(build, asked, dimension, other)
        along = number(dimension.type, self.coarsening.dimension)
        is_along = build.compare("eq", dimension, along, matches)
        chosen.set_operands([is_along, _of_replica(answers, replica), of_launch])
        build.insert(chosen)

    def progression(self, replicas: Values) -> Progression | None:
        """Return the first and the distance, where the replicas are those of an id; else None."""
        return self._progressions.get(replicas)

    def _answer(self, query: Known) -> Values:
        """A query's replicas; of an id that is only ever narrowed the first is enough."""
        asked = query_of(query)
        if asked in self._formula.ids and self._is_only_narrowed(query):
            self._start.serve(_origin(query))
            return (self._formula.first(asked),)
        return self.replicas(query)

    def _is_only_narrowed(self, query: Known) -> bool:
        return all(use.instruction.opcode == "trunc" for use in self._uses.get(query.name, ()))

    @cached_property
    def _uses(self) -> Mapping[str, Sequence[Use]]:
        return uses_of_values(self._kernel) if self._known_uses is None else self._known_uses

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
                start, name = self._start, own(query.short_name(self.coarsening.dimension))
                size = start.compute(Opcode.MUL, start.ask(query), start.number(self.coarsening.factor), name)
                self._answers[query] = (size,)
        return self._answers[query]

    def _narrowed(self, instruction: Known, type_: IntegerType, query: Query) -> Values:
        """A narrowed id, by its own name, which a source may have chosen like a query's."""
        key = f"%{instruction.name}"
        if key not in self._answers:
            self._start.serve(_origin(instruction))
            self._answers[key] = self._spaced(self._formula.narrowed(like(instruction), type_, query))
        return self._answers[key]

    def _spaced(self, replicas: Replicas) -> Values:
        for k, value in enumerate(replicas.values):
            if isinstance(value, Instruction):
                value.origin = value.origin.for_replica(k)
        self._progressions[replicas.values] = replicas.progression
        return replicas.values

    def _linear(self, query: Query) -> Values:
        if query not in self._answers:
            self._answers[query] = tuple(self._linear_replica(query, k) for k in range(self.coarsening.factor))
        return self._answers[query]

    def _linear_replica(self, query: Query, replica: int) -> Operand:
        id_query, size_query = LINEAR_PARTS[query]
        name, compute = own(query.short_name()), self._start.compute
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
        offset = self._start.ask(Query.GLOBAL_OFFSET, dimension)
        return self._start.compute(Opcode.SUB, position, offset, own("position"))

    def _part(self, query: Query, dimension: int, replica: int) -> Operand:
        if dimension != self.coarsening.dimension:
            return self._start.ask(query, dimension)
        return _of_replica(self._along(query), replica)


def _of_replica(answers: Values, replica: int) -> Operand:
    return answers[replica if len(answers) > 1 else 0]


def _is_constant(query: Known) -> bool:
    """Return True if a query's dimension is a constant, or it has none."""
    return not query.arguments or queried_dimension(query) is not None


def _origin(instruction: Known) -> Origin:
    return Origin(instruction.position, instruction.call_position)
