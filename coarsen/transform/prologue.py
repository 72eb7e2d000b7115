"""What is computed at a coarsened kernel's start: what the launch says, each asked once, and arithmetic on it."""

from __future__ import annotations

from collections.abc import Callable

from coarsen.ir.graph.builder import Builder, number
from coarsen.ir.graph.details import Opcode
from coarsen.ir.graph.display_name import Derivation, NewName
from coarsen.ir.graph.instruction import Block, Instruction
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.operands import Callee, Operand
from coarsen.ir.graph.origin import Origin, Role
from coarsen.ir.opencl.queries import Query, mangled_name
from coarsen.ir.types import IntegerType
from coarsen.transform.names import TEMPORARY, NameSupply, own
from coarsen.variant.coarsening import Coarsening, Level


class Prologue:
    """The instructions at the start.

    Args:
        module: in which they will stand.
        coarsening: which it is.
        names: those that are free in the kernel.

    Attributes:
        coarsening: which it is.
        names: those that are free in the kernel.
        block: has the instructions and stands nowhere.
        queries: builds what is asked of the launch.
        build: puts instructions there, under names that are given.
    """

    def __init__(self, module: Module, coarsening: Coarsening, names: NameSupply) -> None:
        self.coarsening = coarsening
        self.names = names
        self.block = Block("prologue")
        self.queries = Queries(module)
        self.build = Builder(self.block, Origin(role=Role.ID))
        self._found: dict[object, Operand] = {}

    def serve(self, origin: Origin) -> None:
        """Give what is built from now on the place in the source of what it is built for."""
        self.build.origin = Origin(origin.position, origin.call_position, role=Role.ID)

    def once(self, key: object, compute: Callable[[], Operand]) -> Operand:
        """Return what was computed for a key before, or compute it."""
        if key not in self._found:
            self._found[key] = compute()
        return self._found[key]

    def ask(self, query: Query, dimension: int | None = None) -> Operand:
        """Ask what the launch says along a dimension, the coarsened one if none is given; once for each."""
        along = self.coarsening.dimension if dimension is None else dimension

        def asked() -> Operand:
            return self.queries.ask(self.build, query, along, self.names.free(self._name_of(query, along)))

        return self.once((query, along), asked)

    def number(self, value: int) -> Operand:
        """Return a number of the type of `size_t`."""
        return self.queries.constant(value)

    def compute(self, opcode: Opcode, left: Operand, right: Operand, wanted: NewName) -> Instruction:
        """Compute something of two values of one type, under the first free name after the wanted one."""
        return self.build.binary(opcode, left, right, self.names.free(wanted))

    def _name_of(self, query: Query, dimension: int) -> NewName:
        """Name an answer: as a compiler does where it is used once, so that a back end may put it there.

        The local size of merged groups is used again for each replica.
        """
        if query is Query.GLOBAL_OFFSET or (query is Query.LOCAL_SIZE and self.coarsening.level is Level.GROUP):
            return own(query.short_name(dimension))
        if query is Query.LOCAL_ID and self.coarsening.stride > 1:
            return own(query.short_name(dimension)).derived(Derivation.COARSENED)
        return TEMPORARY


_ATTRIBUTES = "nounwind willreturn memory(none)"
_DIMENSION = IntegerType(32)


class Queries:
    """Builds queries into one module, all of `size_t`; names that are given are wishes.

    Attributes:
        integer: the type of `size_t`.
    """

    def __init__(self, module: Module) -> None:
        self.integer = module.size_type
        self._module = module
        self._called: dict[Query, Callee] = {}

    def ask(self, build: Builder, query: Query, dimension: int, name: NewName = TEMPORARY) -> Instruction:
        """Ask what the launch says along a dimension."""
        return self.ask_along(build, query, number(_DIMENSION, dimension), name)

    def ask_along(self, build: Builder, query: Query, dimension: Operand, name: NewName) -> Instruction:
        """Ask what the launch says along a dimension that may be known only at run time."""
        return build.call(self._callee(query), self.integer, [dimension], name, _ATTRIBUTES)

    def position(self, build: Builder, dimension: int) -> Instruction:
        """Compute the global id without its offset."""
        place = self.ask(build, Query.GLOBAL_ID, dimension)
        return build.binary(Opcode.SUB, place, self.ask(build, Query.GLOBAL_OFFSET, dimension), own("position"))

    def constant(self, value: int) -> Operand:
        """Return a number of the type of `size_t`."""
        return number(self.integer, value)

    def declare(self) -> None:
        """Declare what was called and the module had not declared; to be done at the end."""
        self._module.declare(self._called[query] for query in sorted(self._called, key=lambda query: query.value))

    def _callee(self, query: Query) -> Callee:
        name = mangled_name(query.value, "j")
        known = self._module.callees.get(name) or self._called.get(query)
        if known is None:
            declaration = f"declare spir_func {self.integer} @{name}(i32) {_ATTRIBUTES}"
            known = self._called[query] = Callee(name, declaration)
        return known


INDEX = IntegerType(64)
